"""A host that offers its own model access: visitors talk without a key of their own."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from app_page import READY, AppPage
from playwright.sync_api import BrowserContext, Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, says

HOST_KEY = "sk-of-the-host"


@pytest.fixture
def context(new_context: Callable[[], BrowserContext]) -> BrowserContext:
    """A profile that has never seen the player."""
    return new_context()


@pytest.fixture
def app(
    page: Page,
    serve: Callable[..., str],
    provider: ModelProvider,
    monkeypatch: pytest.MonkeyPatch,
) -> AppPage:
    monkeypatch.setenv("PERSONAE_RELAY_KEY", HOST_KEY)
    provider.set_models("house-model", "not-offered")
    url = serve("--relay-url", provider.base_url, "--relay-models", "house-model")
    return AppPage(page, url).open().open_sample()


def test_a_visitor_is_answered_at_once(app: AppPage, provider: ModelProvider) -> None:
    expect(app.page.locator("#model-chip")).to_contain_text("house-model")
    provider.script(says("Welcome."))
    app.say("Hello").answered("Welcome.")
    assert provider.chats[-1].body["model"] == "house-model"
    app.page.locator("[data-action=open-settings]").first.click()
    expect(app.page.get_by_label("Provider", exact=True)).to_have_value("relay")
    app.page.get_by_label("Provider", exact=True).select_option("rehearsal")
    app.page.get_by_role("button", name="Done").click()
    expect(app.page.locator("#model-chip")).to_contain_text("no AI")
    app.reload().talks_to("Wren Tallow")
    expect(app.page.locator("#model-chip")).to_contain_text("no AI")


def test_a_visitor_talks_through_the_host(app: AppPage, provider: ModelProvider) -> None:
    app.page.locator("[data-action=open-settings]").first.click()
    app.page.get_by_label("Provider", exact=True).select_option(label="This site")
    expect(app.by("model-main")).to_have_value("house-model", timeout=READY)
    provider.script(says("ok"))
    app.page.get_by_role("button", name="Test the connection").click()
    expect(app.by("settings").locator("[data-part=test]")).to_have_attribute(
        "data-tone", "good", timeout=READY
    )
    app.page.keyboard.press("Escape")

    provider.script(calls(("roll_dice", {"sides": 20})), says("The dice have **spoken**."))
    app.say("Roll for me").answered("The dice have spoken.")
    chat = provider.chats[-1]
    assert chat.headers["authorization"] == f"Bearer {HOST_KEY}"
    assert [message["role"] for message in chat.body["messages"][-2:]] == ["assistant", "tool"]
    shown = app.page.evaluate("() => document.documentElement.outerHTML")
    assert HOST_KEY not in shown + json.dumps(app.page.context.storage_state())


def test_a_model_the_host_does_not_offer_is_named(app: AppPage, provider: ModelProvider) -> None:
    app.page.locator("[data-action=open-settings]").first.click()
    app.page.get_by_label("Provider", exact=True).select_option(label="This site")
    expect(app.by("model-main")).to_have_value("house-model", timeout=READY)
    app.by("model-main").fill("not-offered")
    app.page.keyboard.press("Escape")
    app.say("Hello")
    expect(app.by("error-banner")).to_contain_text("house-model", timeout=READY)
    assert not provider.chats
