"""Ten thousand entries open, scroll and stream like ten."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from app_page import READY, AppPage
from playwright.sync_api import BrowserContext, Page, expect
from visitor import Visitor

from tests.provider.server import ModelProvider
from tests.provider.turns import says

NAME = "Wren Tallow"
COUNT = 10_000


def entry(number: int) -> dict[str, Any]:
    text = f"Message {number}. " + "It goes *on* and on. " * (number % 13)
    role = "user" if number % 2 else "assistant"
    return {
        "id": f"e{number:010d}",
        "role": role,
        "content": text,
        "at": 1_700_000_000_000 + number,
    }


@pytest.fixture(scope="module")
def conversation() -> bytes:
    head = {
        "id": "x", "characterId": "y", "title": "Long", "named": True, "createdAt": 1,
        "updatedAt": 1, "nextEntry": COUNT + 1, "lastToolCallId": 0, "tokensSpent": 0,
    }  # fmt: skip
    data = {
        "format": "personae-conversation", "version": 1, "character": NAME, "conversation": head,
        "entries": [entry(number) for number in range(1, COUNT + 1)], "stores": {},
    }  # fmt: skip
    return json.dumps(data).encode()


@pytest.fixture(scope="module")
def address(desktop: Visitor, player_url: str, conversation: bytes) -> Iterator[str]:
    """Where the conversation is, for all tests that do not change it."""
    app = AppPage(desktop.context.new_page(), player_url).open().open_sample()
    brought(app, conversation)
    yield app.page.url
    desktop.forget()


@pytest.fixture
def app(desktop: Visitor, player_url: str, address: str) -> AppPage:
    """The conversation in a new tab, with all that is in it."""
    for page in desktop.tabs:
        page.close()
    page = desktop.context.new_page()
    page.goto(address)
    app = AppPage(page, player_url).started().talks_to(NAME)
    last = page.locator(f'[data-entry-id="e{COUNT:010d}"]')
    expect(last).to_have_attribute("aria-setsize", str(COUNT + 1))
    return app


def brought(app: AppPage, conversation: bytes) -> AppPage:
    """The conversation as it was exported, brought in once more."""
    app.page.locator("#import-file").set_input_files(
        {"name": "long.json", "mimeType": "application/json", "buffer": conversation}
    )
    expect(app.messages().last).to_contain_text(f"Message {COUNT}.")
    return app


def rows(page: Page) -> int:
    return page.locator("#feed > *").count()


def entry_ids(page: Page) -> list[str]:
    found: list[str] = page.evaluate(
        "() => [...document.querySelectorAll('#feed > [data-entry-id]')]"
        ".map(row => row.dataset.entryId)"
    )
    return found


TOP = "document.getElementById('transcript').scrollTop"


def first_visible(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(
        """() => {
            const edge = document.getElementById("transcript").getBoundingClientRect().top;
            for (const row of document.querySelectorAll("#feed > *")) {
                const box = row.getBoundingClientRect();
                if (box.bottom > edge + 1) return {id: row.dataset.entryId, top: box.top - edge};
            }
        }"""
    )
    return found


def scroll_to(app: AppPage, share: float) -> None:
    app.page.evaluate("share => { transcript.scrollTop = share * transcript.scrollHeight; }", share)
    app.at_rest()


def test_only_what_is_near_the_view_is_in_the_page(app: AppPage) -> None:
    assert rows(app.page) < 60
    for share in (0.5, 0.05, 0.9, 0):
        scroll_to(app, share)
        assert 3 < rows(app.page) < 60
    expect(app.by("intro")).to_be_visible()
    expect(app.messages("user").first).to_contain_text("Message 1.")


def test_scrolling_shows_every_message_in_order_and_nothing_jumps(app: AppPage) -> None:
    page = app.page
    scroll_to(app, 0.5)
    page.locator("#transcript").hover()
    seen: list[str] = []
    for _ in range(25):
        before, top = first_visible(page), page.evaluate(TOP)
        page.mouse.wheel(0, -200)
        page.wait_for_function(f"top => {TOP} !== top", arg=top)  # the browser takes its time
        app.at_rest(frames=5)
        row = page.locator(f'[data-entry-id="{before["id"]}"]')
        moved = row.bounding_box()
        edge = page.locator("#transcript").bounding_box()
        assert moved and edge
        assert abs(moved["y"] - edge["y"] - before["top"] - 200) < 3
        seen.append(first_visible(page)["id"])
    assert seen == sorted(seen, reverse=True)
    numbers = [int(name[1:]) for name in seen]
    assert all(0 <= above - below <= 3 for above, below in itertools.pairwise(numbers))


def test_what_is_drawn_stays_while_older_messages_arrive(app: AppPage) -> None:
    app.reload().talks_to(NAME)
    page = app.page
    expect(app.messages().last).to_contain_text(f"Message {COUNT}.")
    page.locator("#transcript").hover()
    page.mouse.wheel(0, -300)
    row = page.locator(f'[data-entry-id="e{COUNT - 1:010d}"]')
    row.evaluate("row => { row.wasDrawnFirst = true; }")
    expect(row).to_have_attribute("aria-setsize", str(COUNT + 1), timeout=READY)
    assert row.evaluate("row => row.wasDrawnFirst")


def test_a_reply_streams_at_the_end_of_a_long_conversation(
    new_context: Callable[[], BrowserContext],
    player_url: str,
    provider: ModelProvider,
    conversation: bytes,
) -> None:
    app = AppPage(new_context().new_page(), player_url).open().open_sample()
    brought(app, conversation).use_provider(provider.base_url)
    scroll_to(app, 0.2)
    provider.script(says("Still here. " * 40))
    app.say("Are you there?").answered("Still here.")
    distance = "(t => t.scrollHeight - t.scrollTop - t.clientHeight)"
    assert app.page.evaluate(f"{distance}(document.getElementById('transcript'))") < 60
    assert rows(app.page) < 60
    app.reload().talks_to(NAME)
    app.answered("Still here.")


def test_listeners_do_not_pile_up_while_scrolling(app: AppPage) -> None:
    page = app.page
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def listeners() -> float:
        session.send("HeapProfiler.collectGarbage")
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(m["value"] for m in metrics if m["name"] == "JSEventListeners"))

    def tour() -> set[str]:
        shown: set[str] = set()
        for share in (0.1, 0.4, 0.7, 0.2, 0.9, 0.3):
            scroll_to(app, share)
            shown.update(entry_ids(page))
        return shown

    tour()
    before = listeners()
    shown = tour()
    assert len(shown) > 60
    # The page may start something of its own meanwhile; a listener a row would be far more.
    assert listeners() < before + len(shown) / 4
