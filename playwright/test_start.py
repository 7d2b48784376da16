"""A first visit: from the memory the build kept, or plainly where that does not fit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from app_page import READY, AppPage
from playwright.sync_api import BrowserContext, Page, Request, Route, expect

LIBRARY = "**/python_stdlib.zip"
SNAPSHOT = "**/memory.bin"
NAME = "Wren Tallow"


@pytest.fixture
def context(new_context: Callable[[], BrowserContext]) -> BrowserContext:
    """A profile that has never seen the player."""
    return new_context()


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


def test_the_package_is_asked_for_once_and_while_python_starts(page: Page, player_url: str) -> None:
    page.add_init_script(
        """addEventListener("py:progress", ({ detail }) => performance.mark(detail))"""
    )
    AppPage(page, player_url).open(f"?loadCharacter={player_url}/sample.zip").talks_to(NAME)
    asked = page.evaluate(
        """() => performance.getEntriesByType("resource")
            .filter(({ name }) => name.endsWith("/sample.zip")).map((entry) => entry.startTime)"""
    )
    (ready,) = page.evaluate(
        """() => performance.getEntriesByName("Loaded Pyodide").map((mark) => mark.startTime)"""
    )
    assert len(asked) == 1
    assert asked[0] < ready


def test_a_script_of_the_host_has_pyscript(page: Page, player_url: str, console: list[str]) -> None:
    app = AppPage(page, player_url).open(f"?loadCharacter={player_url}/sample.zip").talks_to(NAME)
    app.run_python("from pyscript import document; document.title = 'by the host'")
    expect(page).to_have_title("by the host")
    assert console == []


MOVED = """() => new Promise((resolve) => {
    const moved = [];
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries())
            moved.push(...entry.sources.map(({ node }) => node?.outerHTML ?? node?.textContent));
    }).observe({ type: "layout-shift", buffered: true });
    // What is buffered is told in a task of its own, before this one.
    requestAnimationFrame(() => setTimeout(() => resolve(moved)));
})"""


def test_nothing_moves_when_python_arrives(page: Page, player_url: str) -> None:
    app = AppPage(page, player_url).open()
    expect(app.by("offer").first).to_be_visible()
    assert page.evaluate(MOVED) == []
    app.open(f"?loadCharacter={player_url}/sample.zip").talks_to(NAME)
    assert page.evaluate(MOVED) == []
    app.reload().talks_to(NAME)
    assert page.evaluate(MOVED) == []


def test_the_shell_has_its_theme_and_is_painted_without_the_boot_script(
    page: Page, player_url: str
) -> None:
    page.add_init_script("localStorage.setItem('personae.theme', 'dark')")
    page.route("**/boot.js", lambda route: route.abort())
    page.goto(player_url)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#character-row")).to_be_hidden()  # nobody is known yet
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")


def test_a_newcomer_talks_to_the_sample_without_a_key(
    page: Page, player_url: str, console: list[str]
) -> None:
    app = AppPage(page, player_url).open().open_sample()
    expect(app.page.locator("#character-row")).to_be_visible()
    app.say('call roll_dice {"sides": 20}')
    app.answered("1d20:")
    expect(app.by("audit-entry")).to_contain_text("Rolled 1d20:")
    expect(app.by("tool-call")).to_have_count(1)
    app.reload().talks_to(NAME)
    expect(app.messages("user").last).to_contain_text("roll_dice")
    app.answered("1d20:")
    expect(app.by("audit-entry")).to_contain_text("Rolled 1d20:")
    assert console == []


def test_nothing_is_loaded_from_elsewhere(page: Page, player_url: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    AppPage(page, player_url).open().open_sample()
    outside = [url for url in asked if not url.startswith((player_url, "blob:", "data:"))]
    assert outside == []


def test_a_failed_boot_says_what_to_do(page: Page, player_url: str) -> None:
    page.route("**/pyodide.asm.wasm", lambda route: route.abort())
    page.goto(player_url)
    error = page.locator("#boot-error")
    expect(error).to_be_visible(timeout=READY)
    expect(error).to_contain_text("Reload the page")
