"""The database of version 0.1.0 becomes the present one: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from app_page import READY, AppPage
from earlier.saved import Saved
from faults.world import crash, eventually, fault, no_banner, one_banner
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.provider.server import ModelProvider

SAVED = Saved.load("version-0.1.0")
CHARACTERS = [character["name"] for character in SAVED.characters()]
Tables = dict[str, list[list[Any]]]


@pytest.fixture
def context(browser: Browser, player_url: str, provider: ModelProvider) -> Iterator[BrowserContext]:
    context = browser.new_context()
    SAVED.put_into(context, player_url, base_url=provider.base_url)
    yield context
    context.close()


@pytest.fixture
def beside(context: BrowserContext, player_url: str) -> Page:
    """A page that looks into the database without the player."""
    page = context.new_page()
    page.goto(f"{player_url}/pyscript.json")
    return page


def dump(page: Page) -> Tables:
    found: Tables = page.evaluate("faults.dump()")
    return found


def expect_all_characters(app: AppPage) -> None:
    names = app.by("library-item").locator("[data-part=name]")
    expect(names).to_have_text(CHARACTERS, timeout=READY)


def check_upgraded(page: Page, before: Tables) -> None:
    """Logs are in a table of their own; every other record is where it was, as it was."""
    after = dump(page)
    assert page.evaluate("faults.version()") == 2
    moved = [[[*key[:2], key[3]], value] for key, value in before["stores"] if len(key) == 4]
    assert len(moved) > 1
    assert after.pop("logs") == sorted(moved)
    for table in ("world", "commits", "artifacts"):
        assert after.pop(table) == []
    stores = [record for record in before["stores"] if len(record[0]) == 2]
    assert after == before | {"stores": stores}


def test_the_logs_get_a_table_of_their_own_and_the_rest_stays(
    context: BrowserContext, beside: Page, player_url: str
) -> None:
    before = dump(beside)
    assert beside.evaluate("faults.version()") == 1
    app = AppPage(context.new_page(), player_url).open()
    expect_all_characters(app)
    no_banner(app)
    check_upgraded(beside, before)


def test_a_tab_that_is_killed_while_it_upgrades_leaves_what_was_there(
    context: BrowserContext, beside: Page, player_url: str
) -> None:
    before = dump(beside)
    killed = context.new_page()
    killed.add_init_script("faults.upgrade = 'hold'")
    killed.goto(player_url)
    eventually(killed, lambda: killed.evaluate("faults.upgrading") > 1)
    crash(killed)
    assert dump(beside) == before
    assert beside.evaluate("faults.version()") == 1
    app = AppPage(context.new_page(), player_url).open()
    expect_all_characters(app)
    check_upgraded(beside, before)


def test_an_upgrade_that_fails_changes_nothing_and_is_tried_again(
    context: BrowserContext, beside: Page, player_url: str
) -> None:
    before = dump(beside)
    page = context.new_page()
    page.add_init_script("faults.upgrade = 'abort'")
    app = AppPage(page, player_url).open()
    one_banner(app, "in memory")
    assert dump(beside) == before
    assert beside.evaluate("faults.version()") == 1
    fault(page, upgrade="")
    no_banner(app)
    check_upgraded(beside, before)
