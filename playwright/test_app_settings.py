"""Settings: who answers, where the key is, and what a test of the connection says."""

from __future__ import annotations

import json

import pytest
from app_page import READY, AppPage
from faults.world import eventually
from playwright.sync_api import Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import error, says

NAME = "Wren Tallow"


@pytest.fixture
def app(page: Page, player_url: str) -> AppPage:
    return AppPage(page, player_url).open().open_sample()


def open_settings(app: AppPage) -> AppPage:
    app.page.locator("[data-action=open-settings]").first.click()
    expect(app.by("settings")).to_be_visible()
    return app


def done(app: AppPage) -> None:
    app.page.get_by_role("button", name="Done").click()
    expect(app.by("settings")).to_be_hidden()


def test_the_rehearsal_model_says_that_it_is_no_ai(app: AppPage) -> None:
    chip = app.page.locator("#model-chip")
    expect(chip).to_contain_text("no AI")
    app.say("Hello").answered("no AI")


def test_models_come_from_the_provider(app: AppPage, provider: ModelProvider) -> None:
    provider.set_models("small", "large")
    open_settings(app)
    app.by("base-url").fill(provider.base_url)
    app.by("api-key").fill("sk-test")
    expect(app.page.locator("#model-list option")).to_have_count(2, timeout=READY)
    expect(app.by("settings")).to_contain_text("Choose a main model")
    app.by("model-main").fill("large")
    app.by("model-worker").fill("small")
    app.by("temperature").fill("0.3")
    done(app)
    expect(app.page.locator("#model-chip")).to_contain_text("large")
    provider.script(says("Hello."))
    app.say("Hi").answered("Hello.")
    body = provider.chats[-1].body
    assert (body["model"], body["temperature"]) == ("large", 0.3)


def test_a_session_key_is_gone_with_the_tab(app: AppPage, provider: ModelProvider) -> None:
    app.use_provider(provider.base_url, key="sk-session-key", model="filled-in-last")
    eventually(app.page, lambda: "filled-in-last" in app.kept())
    assert provider.base_url in app.kept()
    assert "sk-session-key" not in app.kept()
    open_settings(app.reload().talks_to(NAME))
    expect(app.by("api-key")).to_have_value("")
    expect(app.by("base-url")).to_have_value(provider.base_url)


def test_a_key_stays_on_the_device_when_asked_and_goes_when_asked(
    app: AppPage, provider: ModelProvider
) -> None:
    open_settings(app)
    app.by("base-url").fill(provider.base_url)
    app.by("api-key").fill("sk-device-key")
    app.page.get_by_role("radio", name="On this device").check(force=True)
    done(app)
    eventually(app.page, lambda: "sk-device-key" in app.kept())
    open_settings(app.reload().talks_to(NAME))
    expect(app.by("api-key")).to_have_value("sk-device-key")
    app.page.get_by_role("radio", name="For this session").check(force=True)
    done(app)
    eventually(app.page, lambda: "sk-device-key" not in app.kept())


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (error(401, "Incorrect API key provided"), "Incorrect API key provided"),
        (error(404, "The model `test` does not exist"), "does not exist"),
    ],
)
def test_the_test_button_says_what_failed(
    app: AppPage, provider: ModelProvider, failure: object, words: str
) -> None:
    app.use_provider(provider.base_url)
    open_settings(app)
    provider.script(failure)  # type: ignore[arg-type]
    app.page.get_by_role("button", name="Test the connection").click()
    result = app.by("settings").locator("[data-part=test]")
    expect(result).to_contain_text(words, timeout=READY)
    provider.script(says("OK"))
    app.page.get_by_role("button", name="Test the connection").click()
    expect(result).to_contain_text("test answers", timeout=READY)


def test_an_address_where_nothing_is_says_so(app: AppPage) -> None:
    app.use_provider("http://127.0.0.1:9/v1")
    open_settings(app)
    app.page.get_by_role("button", name="Test the connection").click()
    result = app.by("settings").locator("[data-part=test]")
    expect(result).to_contain_text("Is the server running", timeout=READY)


def test_presets_fill_the_base_url(app: AppPage) -> None:
    open_settings(app)
    app.page.get_by_label("Provider").select_option("openrouter")
    expect(app.by("base-url")).to_have_value("https://openrouter.ai/api/v1")
    app.page.get_by_label("Provider").select_option("rehearsal")
    expect(app.by("base-url")).to_have_value("")
    options = app.page.get_by_label("Provider").locator("option").all_inner_texts()
    assert "This site" not in options  # this host has no relay


def test_a_number_that_makes_no_sense_is_marked_and_not_taken(app: AppPage) -> None:
    open_settings(app)
    app.by("temperature").fill("9")
    expect(app.by("temperature")).to_have_attribute("aria-invalid", "true")
    done(app)
    open_settings(app)
    expect(app.by("temperature")).to_have_value("")


def test_the_theme_is_kept(app: AppPage) -> None:
    button = app.page.locator("#theme-button")
    button.click()
    button.click()
    expect(app.page.locator("html")).to_have_attribute("data-theme", "dark")
    background = "getComputedStyle(document.body).backgroundColor"
    dark = app.page.evaluate(background)
    app.reload().talks_to(NAME)
    assert app.page.evaluate(background) == dark


def test_the_prompt_preview_is_what_is_sent(app: AppPage, provider: ModelProvider) -> None:
    app.use_provider(provider.base_url)
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    app.page.locator("#inspector-toggle").click()
    app.page.get_by_role("tab", name="Prompt").click()
    app.page.get_by_role("button", name="Copy as JSON").click()
    expect(app.by("toast")).to_contain_text("clipboard")
    preview = json.loads(app.page.evaluate("navigator.clipboard.readText()"))
    provider.script(says("Hello."))
    app.say("Hi").answered("Hello.")
    body = provider.chats[-1].body
    assert body["messages"][:-1] == preview["messages"]
    assert body["tools"] == preview["tools"]
