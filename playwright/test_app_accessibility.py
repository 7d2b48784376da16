"""Every view passes axe, in light and dark, on desktop and phone; the keyboard reaches all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from app_page import AppPage
from playwright.sync_api import Browser, Page, expect
from visitor import Visitor

NAME = "Wren Tallow"
AXE = Path(__file__).parent.parent / "worker" / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.fixture(params=["desktop", "phone"])
def device(request: pytest.FixtureRequest) -> Visitor:
    someone: Visitor = request.getfixturevalue(request.param)
    return someone


@pytest.fixture(params=["light", "dark"])
def app(device: Visitor, player_url: str, request: pytest.FixtureRequest) -> Iterator[AppPage]:
    page = device.context.new_page()
    page.emulate_media(color_scheme=request.param, reduced_motion="reduce")
    yield AppPage(page, player_url).open()
    device.forget()


def check(page: Page, view: str) -> None:
    """No violation of WCAG 2.2 AA or of axe's best practices."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)["violations"]
    said = [
        f"{item['id']}: {item['help']}\n  " + "\n  ".join(node["html"] for node in item["nodes"])
        for item in found
    ]
    assert not said, f"{view}:\n" + "\n".join(said)


def close(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open], .menu")).to_have_count(0)


def test_every_view_passes_axe(app: AppPage) -> None:
    page = app.page
    check(page, "start")
    app.open_sample()
    expect(app.by("intro")).to_be_visible()
    check(page, "intro")
    app.say('call roll_dice {"sides": 6}').answered("1d6:")
    page.locator(".chip summary").first.click()
    check(page, "chat")
    page.get_by_label("Edit", exact=True).last.click()
    check(page, "editor")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_label("More for this message").last.click()
    check(page, "menu")
    close(page)
    for view, act in views(page).items():
        act()
        check(page, view)
        close(page)
    page.locator("#inspector-toggle").click()
    page.locator(".agent summary").first.click()
    expect(app.by("agent-panel").locator(".tree")).to_contain_text("rolls")
    check(page, "agents")
    page.get_by_role("tab", name="Prompt").click()
    expect(app.by("prompt-preview")).to_contain_text("system")
    check(page, "prompt")


def views(page: Page) -> dict[str, Callable[[], None]]:
    def settings() -> None:
        page.locator("#model-chip").click()
        expect(page.get_by_test_id("settings")).to_be_visible()

    def help_sheet() -> None:
        page.keyboard.press("Control+/")
        expect(page.get_by_role("dialog", name="Help")).to_be_visible()

    def palette() -> None:
        page.keyboard.press("Control+k")
        expect(page.get_by_test_id("command-dialog")).to_be_visible()

    def command() -> None:
        palette()
        page.keyboard.press("Enter")
        expect(page.get_by_label("Text for the command")).to_be_visible()

    return {"settings": settings, "help": help_sheet, "palette": palette, "command": command}


def test_the_first_steps_need_no_mouse(app: AppPage) -> None:
    page = app.page
    reached = []
    for _ in range(30):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.dataset.action ?? ''"))
        if reached[-1] == "open-character":
            break
    assert reached[-1] == "open-character"
    page.keyboard.press("Enter")
    app.talks_to(NAME)
    expect(app.by("composer")).to_be_focused()
    page.keyboard.type("Hello")
    page.keyboard.press("Control+Enter")
    app.answered("Hello")
    expect(page.locator("#announcer")).to_contain_text("You said: “Hello”")


def test_nothing_moves_when_python_arrives(browser: Browser, player_url: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.add_init_script(
        """globalThis.shifts = [];
        new PerformanceObserver((list) => {
            for (const entry of list.getEntries())
                for (const {node} of entry.sources) shifts.push(node?.outerHTML?.slice(0, 90));
        }).observe({type: "layout-shift", buffered: true});"""
    )
    AppPage(page, player_url).open()
    page.wait_for_timeout(300)
    assert page.evaluate("shifts") == []
    context.close()


def test_right_to_left_text_reads_from_the_right(app: AppPage) -> None:
    app.open_sample()
    app.say("שלום עולם 🎭👩‍👩‍👧").answered("🎭👩‍👩‍👧")
    body = app.messages("user").last.locator(".prose")
    assert body.evaluate("node => getComputedStyle(node).direction") == "rtl"
    assert app.by("composer").evaluate("node => node.dir") == "auto"
