"""Two tabs on one conversation without Web Locks: a plain http page on a LAN has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.talk import said, say, start, texts
from faults.world import HERE, NAME, crash, eventually, moody, no_banner, skip, until
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.provider.server import ModelProvider


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.add_init_script(path=HERE / "clock.js")
    yield context
    context.close()


@pytest.fixture
def first(
    context: BrowserContext, lan_url: str, tmp_path: Path, provider: ModelProvider
) -> AppPage:
    """The tab that has the conversation."""
    app = start(context, lan_url, moody(tmp_path), provider)
    assert app.page.evaluate("[isSecureContext, typeof navigator.locks]") == [False, "undefined"]
    say(app, provider, "One", "First.")
    no_banner(app)
    return app


def another(context: BrowserContext, app: AppPage) -> AppPage:
    page = context.new_page()
    page.goto(app.page.url)
    second = AppPage(page, app.url).started()
    expect(second.by("character-name").first).to_have_text(NAME, timeout=READY)
    return second


def reads_only(app: AppPage) -> None:
    expect(app.page.get_by_text("another tab")).to_be_visible(timeout=READY)
    expect(app.by("composer")).not_to_be_editable()


def takes_over(app: AppPage, provider: ModelProvider) -> None:
    until(app, app.by("composer").is_editable)
    app.use_provider(provider.base_url, key="")
    say(app, provider, "Two", "Second.")
    assert texts(app) == ["One", "First.", "Two", "Second."]


def closed(page: Page) -> None:
    page.close()


@pytest.mark.parametrize("end", [closed, crash], ids=["closed", "killed"])
def test_a_second_tab_reads_until_the_first_is_gone(
    context: BrowserContext, first: AppPage, provider: ModelProvider, end: Callable[[Page], None]
) -> None:
    second = another(context, first)
    reads_only(second)
    third = another(context, first)
    reads_only(third)
    third.page.close()
    end(first.page)
    takes_over(second, provider)


def test_a_tab_that_stands_still_keeps_its_conversation(
    context: BrowserContext, first: AppPage, provider: ModelProvider
) -> None:
    """Frozen in the background it runs no timer and hears no event."""
    session = context.new_cdp_session(first.page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    second = another(context, first)
    reads_only(second)
    for _ in range(5):
        skip(second, 60_000)
        second.page.wait_for_timeout(100)
    reads_only(second)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    say(first, provider, "Two", "Second.")
    assert texts(first) == ["One", "First.", "Two", "Second."]
    first.page.close()
    expect(said(second)).to_have_text(["One", "Two"])


def test_of_two_tabs_that_start_at_once_one_writes(
    context: BrowserContext, first: AppPage, provider: ModelProvider
) -> None:
    address = first.page.url
    first.page.close()
    pages = [context.new_page(), context.new_page()]
    for page in pages:
        page.goto(address, wait_until="commit")
    tabs = [AppPage(page, address).started() for page in pages]
    for app in tabs:
        expect(app.messages("user")).to_have_count(1, timeout=READY)
        writes = app.page.locator("[data-testid=composer]:not(:disabled, :read-only)")
        expect(writes.or_(app.page.get_by_text("another tab"))).to_be_visible(timeout=READY)
    assert sorted(app.by("composer").is_editable() for app in tabs) == [False, True]


def test_the_clock_goes_back(
    context: BrowserContext, first: AppPage, provider: ModelProvider
) -> None:
    second = another(context, first)
    reads_only(second)
    second.page.evaluate("faults.shift = -86_400_000")
    crash(first.page)
    takes_over(second, provider)


def test_leaving_gives_the_conversation_back_and_leaves_nothing_behind(
    context: BrowserContext, first: AppPage, provider: ModelProvider
) -> None:
    second = another(context, first)
    reads_only(second)
    first.by("new-conversation").first.click()
    expect(first.messages("user")).to_have_count(0)
    takes_over(second, provider)
    first.page.close()
    second.page.goto("about:blank")
    page = context.new_page()
    page.goto(f"{first.url}/pyscript.json")
    databases = "async () => (await indexedDB.databases()).map(({name}) => name)"
    eventually(page, lambda: page.evaluate(databases) == ["personae"])
