"""The app in one hand: the sidebar over the stage, touch, the keyboard's Enter."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from app_page import AppPage
from playwright.sync_api import expect
from visitor import Visitor

NAME = "Wren Tallow"


@pytest.fixture
def app(phone: Visitor, player_url: str) -> Iterator[AppPage]:
    app = AppPage(phone.context.new_page(), player_url).open()
    app.by("offer").locator("button").first.tap()
    yield app.talks_to(NAME)
    phone.forget()


def test_nothing_is_wider_than_the_screen(app: AppPage) -> None:
    app.say("A" * 400).answered("AAAA")
    app.say('call roll_dice {"sides": 20}').answered("1d20:")
    width = "document.scrollingElement.scrollWidth"
    assert app.page.evaluate(width) <= 390
    wider = app.page.evaluate(
        """() => [...document.querySelectorAll("#feed *")].filter((node) =>
            node.getBoundingClientRect().right > 391 && !node.closest("pre")).length"""
    )
    assert wider == 0


def test_enter_is_a_new_line_and_the_button_sends(app: AppPage) -> None:
    box = app.by("composer")
    box.tap()
    app.page.keyboard.type("one")
    app.page.keyboard.press("Enter")
    app.page.keyboard.type("two")
    assert box.input_value() == "one\ntwo"
    app.by("send").tap()
    app.answered("one")
    assert app.messages("user").locator(".prose").inner_text() == "one\ntwo"


def test_the_sidebar_lies_over_the_stage_and_gives_the_focus_back(app: AppPage) -> None:
    page = app.page
    opener = page.get_by_label("Open the sidebar")
    opener.tap()
    expect(page.locator("#sidebar")).to_be_visible()
    assert page.locator("#stage").evaluate("node => node.inert") is True
    page.keyboard.press("Escape")
    expect(page.locator("#sidebar")).not_to_be_visible()
    expect(opener).to_be_focused()
    opener.tap()
    page.locator("#scrim").tap(position={"x": 360, "y": 400})
    expect(page.locator("#sidebar")).not_to_be_visible()


def test_conversations_are_switched_from_the_sidebar(app: AppPage) -> None:
    page = app.page
    app.say("first tale").answered("first tale")
    page.get_by_label("Open the sidebar").tap()
    app.by("new-conversation").tap()
    expect(page.locator("#sidebar")).not_to_be_visible()
    app.say("second tale").answered("second tale")
    page.get_by_label("Open the sidebar").tap()
    page.locator(".conversation-open", has_text="first tale").tap()
    expect(app.messages("user").locator(".prose")).to_have_text("first tale")


def test_the_panel_covers_the_screen_and_escape_closes_it(app: AppPage) -> None:
    page = app.page
    page.locator("#inspector-toggle").tap()
    expect(app.by("agent-panel")).to_be_visible()
    expect(page.get_by_role("tab", name="Agents")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(app.by("prompt-preview")).to_contain_text("system")
    page.keyboard.press("Escape")
    expect(app.by("agent-panel")).to_be_hidden()
