"""Ten thousand entries open, scroll and stream like ten."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from app_page import READY, AppPage
from playwright.sync_api import Page, expect

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


@pytest.fixture
def app(page: Page, player_url: str, conversation: bytes) -> AppPage:
    app = AppPage(page, player_url).open().open_sample()
    page.locator("#import-file").set_input_files(
        {"name": "long.json", "mimeType": "application/json", "buffer": conversation}
    )
    last = app.messages().last
    expect(last).to_contain_text(f"Message {COUNT}.", timeout=READY)
    # The older messages come afterwards; the intro is a row as well.
    expect(last).to_have_attribute("aria-setsize", str(COUNT + 1), timeout=READY)
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


def scroll_to(page: Page, share: float) -> None:
    page.evaluate(
        "share => { const t = document.getElementById('transcript');"
        " t.scrollTop = share * t.scrollHeight; }",
        share,
    )
    page.wait_for_timeout(300)


def test_only_what_is_near_the_view_is_in_the_page(app: AppPage) -> None:
    assert rows(app.page) < 60
    for share in (0.5, 0.05, 0.9, 0):
        scroll_to(app.page, share)
        assert 3 < rows(app.page) < 60
    expect(app.by("intro")).to_be_visible()
    expect(app.messages("user").first).to_contain_text("Message 1.")


def test_scrolling_shows_every_message_in_order_and_nothing_jumps(app: AppPage) -> None:
    page = app.page
    scroll_to(page, 0.5)
    page.locator("#transcript").hover()
    seen: list[str] = []
    for _ in range(25):
        before, top = first_visible(page), page.evaluate(TOP)
        page.mouse.wheel(0, -200)
        page.wait_for_function(f"top => {TOP} !== top", arg=top)  # the browser takes its time
        page.wait_for_timeout(60)
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
    app: AppPage, provider: ModelProvider
) -> None:
    app.use_provider(provider.base_url)
    scroll_to(app.page, 0.2)
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

    scroll_to(page, 0.3)
    before = listeners()
    shown: set[str] = set()
    for share in (0.1, 0.4, 0.7, 0.2, 0.9, 0.3):
        scroll_to(page, share)
        shown.update(entry_ids(page))
    assert len(shown) > 60
    # The page may start something of its own meanwhile; a listener a row would be far more.
    assert listeners() < before + len(shown) / 4
