"""How the page starts: from the memory the build kept, or plainly where that does not fit."""

from __future__ import annotations

from app_page import AppPage
from playwright.sync_api import Page, Request, Route

LIBRARY = "**/python_stdlib.zip"
SNAPSHOT = "**/memory.bin"
NAME = "Wren Tallow"


def test_a_conversation_needs_no_library_archive(
    page: Page, player_url: str, console: list[str]
) -> None:
    asked: list[str] = []

    def seen(request: Request) -> None:
        asked.append(request.url.rpartition("/")[2])

    page.on("request", seen)
    app = AppPage(page, player_url).open(f"?loadCharacter={player_url}/sample.zip").talks_to(NAME)
    app.say('call roll_dice {"sides": 20}').answered("1d20:")
    assert "memory.bin" in asked
    assert "python_stdlib.zip" not in asked
    assert not any(name.endswith(".whl") for name in asked)
    assert console == []


def test_without_a_fitting_snapshot_python_starts_plainly(page: Page, player_url: str) -> None:
    def spoil(route: Route) -> None:
        body = bytearray(route.fetch().body())
        body[:4] = b"none"
        route.fulfill(body=bytes(body))

    page.route(SNAPSHOT, spoil)
    app = AppPage(page, player_url).open(f"?loadCharacter={player_url}/sample.zip").talks_to(NAME)
    app.say('call roll_dice {"sides": 20}').answered("1d20:")
