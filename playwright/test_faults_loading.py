"""Agents that cannot be loaded, in every language: the character is there without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.world import HERE, moody, until
from playwright.sync_api import expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, says

LANGUAGES = ["js", "ts", "py", "lua"]
WHY = {"syntax": "broken.syntax", "throws": "no hands"}


def opened(app: AppPage, tmp_path: Path, *agents: str) -> AppPage:
    """The character with test.moody and broken agents that are started with the conversation."""
    app.page.locator("[data-action=show-start]").first.click()
    broken = [HERE / "broken" / agent for agent in agents]
    name = " and ".join(agents)  # another one in each test: no package is another's next version
    app.open_file(moody(tmp_path, *broken, name=name))
    expect(app.by("character-name").first).to_have_text(name, timeout=READY)
    return app


def both_called(app: AppPage, provider: ModelProvider, tool: str) -> None:
    provider.script(calls(("act", {"how": ""}), (tool, {})), says("One of them works."))
    app.say("Both")


def is_told(app: AppPage, provider: ModelProvider, *words: str) -> None:
    """What the model and the user are told of the call to the broken one."""
    app.answered("One of them works.")
    well, ill = (m["content"] for m in provider.last_messages() if m["role"] == "tool")
    assert well.startswith("did ")
    for word in words:
        assert word in ill
    states = [call.get_attribute("data-state") for call in app.by("tool-call").all()]
    assert states == ["done", "failed"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("how", WHY)
def test_an_agent_that_throws_while_it_is_loaded(
    app: AppPage, provider: ModelProvider, tmp_path: Path, how: str, language: str
) -> None:
    opened(app, tmp_path, f"broken.{how}.{language}")
    banner = app.by("error-banner").filter(has_text=f"broken.{how}")
    expect(banner).to_contain_text(WHY[how], timeout=READY)
    both_called(app, provider, f"break_{how}")
    is_told(app, provider, f"broken.{how}", WHY[how])


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_agent_that_does_not_end_loading(
    app: AppPage, provider: ModelProvider, tmp_path: Path, language: str
) -> None:
    opened(app, tmp_path, f"broken.endless.{language}")
    expect(app.by("composer")).to_be_editable()  # nobody has to wait to write
    banner = app.by("error-banner").filter(has_text="broken.endless")
    until(app, banner.count)
    expect(banner).to_contain_text("took longer")
    both_called(app, provider, "break_endless")
    until(app, lambda: len(provider.chats) == 2)
    until(app, app.by("send").is_visible)
    is_told(app, provider, "broken.endless", "took longer")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_agent_without_the_function_it_needs(
    app: AppPage, provider: ModelProvider, tmp_path: Path, language: str
) -> None:
    opened(app, tmp_path, f"broken.absent.{language}")
    both_called(app, provider, "break_absent")
    is_told(app, provider, "no function")
    expect(app.by("error-banner")).to_contain_text("broken.absent")


def test_each_agent_that_fails_is_shown(
    app: AppPage, provider: ModelProvider, tmp_path: Path
) -> None:
    opened(app, tmp_path, *(f"broken.{how}.js" for how in WHY))
    banners = app.by("error-banner")
    for how in WHY:
        expect(banners.filter(has_text=f"broken.{how}")).to_have_count(1, timeout=READY)
    provider.script(says("Well."))
    app.say("How are you?").answered("Well.")
    expect(banners).to_have_count(2)  # each is told of once
