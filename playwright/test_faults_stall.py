"""The browser's storage is really full, or does not answer: nothing waits for it forever."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from app_page import AppPage
from faults.talk import said, say, start, texts
from faults.world import HERE, NAME, crash, inject, moody, no_banner, one_banner, until
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, says

MEGABYTE = 2**20


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser of its own with an empty storage, of which the player is the only user."""
    context = browser.new_context()
    context.add_init_script("delete Navigator.prototype.serviceWorker")  # it would fill the cache
    yield context
    context.close()


class Quota:
    """The browser's own limit of bytes for what the player stores, while this lives."""

    def __init__(self, page: Page, url: str, size: int) -> None:
        self._page, self._url = page, url
        self._session = page.context.new_cdp_session(page)
        self._set(size)

    def use_up(self) -> None:
        """From now on nothing fits."""
        self._set(1)
        # The browser reckons with the room it knew of for a while, until more is asked for.
        self._page.evaluate(
            "size => faults.write([['files', ['ballast'], {text: 'x'.repeat(size)}]])", 4 * MEGABYTE
        )

    def lift(self) -> None:
        self._set(None)

    def _set(self, size: int | None) -> None:
        limits = {} if size is None else {"quotaSize": size}
        self._session.send("Storage.overrideQuotaForOrigin", {"origin": self._url, **limits})


def test_the_browsers_quota_is_used_up_and_raised_again(
    context: BrowserContext, player_url: str, tmp_path: Path, provider: ModelProvider
) -> None:
    inject(context)
    page = context.new_page()
    quota = Quota(page, player_url, 2 * MEGABYTE)
    app = AppPage(page, player_url).open().open_file(moody(tmp_path)).talks_to(NAME)
    app.use_provider(provider.base_url, key="")
    say(app, provider, "One", "First.")
    quota.use_up()
    say(app, provider, "Two", "Second.")
    one_banner(app, "full", "not saved", "in memory", "resumes by itself")
    provider.script(calls(("act", {"how": ""})), says("Third."))
    app.say("Three").answered("Third.")
    assert texts(app) == ["One", "First."]
    app.by("new-conversation").first.click()
    expect(app.messages("user")).to_have_count(0)
    say(app, provider, "Elsewhere", "Here.")
    quota.lift()
    no_banner(app)
    assert [text for text in texts(app) if text != "act 1"] == [
        "One", "First.", "Two", "Second.", "Three", "", "did 1", "Third.", "Elsewhere", "Here.",
    ]  # fmt: skip
    app.reload().talks_to(NAME).answered("Here.")


def test_a_transaction_that_does_not_end_until_it_does(
    context: BrowserContext, player_url: str, tmp_path: Path, provider: ModelProvider
) -> None:
    """Another tab keeps all tables; what this one has asked for completes late, then the rest."""
    context.add_init_script(path=HERE / "clock.js")
    app = start(context, player_url, moody(tmp_path), provider)
    say(app, provider, "One", "First.")
    other = context.new_page()
    other.goto(f"{player_url}/pyscript.json")
    other.evaluate("faults.occupy()")
    provider.script(calls(("act", {"how": ""})), says("Second."))
    app.say("Two")
    until(app, app.by("error-banner").count)
    app.answered("Second.")
    one_banner(app, "does not answer", "not saved", "in memory", "resumes by itself")
    say(app, provider, "Three", "Third.")
    app.by("new-conversation").first.click()
    expect(app.messages("user")).to_have_count(0)
    say(app, provider, "Elsewhere", "Here.")
    one_banner(app, "does not answer")
    other.evaluate("faults.release()")
    until(app, lambda: not app.by("error-banner").count())
    expected = [
        "One", "First.", "Two", "", "act 1", "did 1", "Second.", "Three", "Third.",
        "Elsewhere", "Here.",
    ]  # fmt: skip
    assert texts(app) == expected
    app.reload().talks_to(NAME).answered("Here.")
    app.by("conversation-list").locator(".conversation-open").filter(has_text="One").click()
    app.answered("Third.")
    expect(said(app)).to_have_text(["One", "Two", "Three"])


def test_a_page_that_starts_while_storage_does_not_answer(
    context: BrowserContext, player_url: str, tmp_path: Path, provider: ModelProvider
) -> None:
    context.add_init_script(path=HERE / "clock.js")
    path = moody(tmp_path)
    app = start(context, player_url, path, provider)
    say(app, provider, "One", "First.")
    other = context.new_page()
    other.goto(f"{player_url}/pyscript.json")
    other.evaluate("faults.occupy()")
    crash(app.page)
    app = AppPage(context.new_page(), player_url)
    app.page.goto(player_url)
    until(app, app.by("error-banner").count)
    one_banner(app.started(), "does not answer", "in memory")
    app.open_file(path).talks_to(NAME).use_provider(provider.base_url, key="")
    say(app, provider, "Two", "Second.")
    other.evaluate("faults.release()")
    until(app, lambda: not app.by("error-banner").count())
    assert texts(app) == ["One", "First.", "Two", "Second."]
