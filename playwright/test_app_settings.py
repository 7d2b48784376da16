"""Settings: who answers, where the key is, and what a test of the connection says."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from app_page import READY, AppPage
from bench.busy import BusyTasks
from faults.world import eventually
from playwright.sync_api import Browser, Page, Route, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import Turn, error, says

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
    app.page.wait_for_timeout(1_000)
    assert provider.requests == []  # nothing is asked while it is typed
    app.by("api-key").fill("sk-test")
    app.by("api-key").press("Tab")
    expect(app.page.locator("#model-list option")).to_have_count(2, timeout=READY)
    expect(app.by("model-main")).to_have_value("small")
    assert provider.requests[-1].headers["authorization"] == "Bearer sk-test"
    app.by("model-main").fill("large")
    app.by("model-worker").fill("small")
    app.by("temperature").fill("0.3")
    done(app)
    expect(app.page.locator("#model-chip")).to_contain_text("large")
    provider.script(says("Hello."))
    app.say("Hi").answered("Hello.")
    body = provider.chats[-1].body
    assert (body["model"], body["temperature"]) == ("large", 0.3)


def test_a_pasted_url_is_asked_as_chat_would(app: AppPage, provider: ModelProvider) -> None:
    provider.set_models("only")
    open_settings(app)
    app.by("base-url").fill(f"{provider.base_url}/chat/completions")
    app.by("base-url").press("Tab")
    expect(app.by("base-url")).to_have_value(provider.base_url)
    expect(app.by("model-main")).to_have_value("only", timeout=READY)
    assert [seen.path for seen in provider.requests] == ["/v1/models"]


def test_a_secret_in_a_base_url_is_refused(app: AppPage) -> None:
    open_settings(app)
    app.by("base-url").fill("http://127.0.0.1:9/v1?key=sk-very-secret")
    app.by("base-url").press("Tab")
    expect(app.by("base-url")).to_have_attribute("aria-invalid", "true")
    expect(app.by("settings")).to_contain_text("the API key has a field of its own")
    expect(app.by("api-key")).to_be_disabled()
    app.page.get_by_role("button", name="Done").click()
    expect(app.by("base-url")).to_be_focused()
    app.page.keyboard.press("Escape")
    expect(app.by("settings")).to_be_hidden()
    expect(app.by("toast").last).to_contain_text("The base URL was not taken")
    expect(app.by("toast").last).not_to_contain_text("sk-very-secret")
    app.page.wait_for_timeout(500)
    assert "sk-very-secret" not in stored(app)


def test_switching_providers_and_back_loses_nothing(app: AppPage, provider: ModelProvider) -> None:
    app.use_provider(provider.base_url, key="sk-mine", model="mine")
    open_settings(app)
    choice = app.page.get_by_label("Provider")
    choice.select_option("openai")
    expect(app.by("api-key")).to_have_value("")
    app.by("api-key").fill("sk-open")
    choice.select_option("groq")
    expect(app.by("api-key")).to_have_value("")
    choice.select_option("custom")
    expect(app.by("base-url")).to_have_value(provider.base_url)
    expect(app.by("api-key")).to_have_value("sk-mine")
    expect(app.by("model-main")).to_have_value("mine")
    choice.select_option("openai")
    expect(app.by("api-key")).to_have_value("sk-open")


def test_a_redirect_takes_no_key_along(app: AppPage, provider: ModelProvider) -> None:
    with ModelProvider() as elsewhere:
        moved = Turn(status=307, headers={"location": f"{elsewhere.base_url}/models"})
        provider.serve("/v1/models", moved)
        open_settings(app)
        app.by("base-url").fill(provider.base_url)
        app.by("api-key").fill("sk-very-secret")
        app.page.get_by_role("button", name="List the models").click()
        expect(app.by("settings")).to_contain_text("No list of models", timeout=READY)
        assert provider.requests[-1].headers["authorization"] == "Bearer sk-very-secret"
        assert elsewhere.requests == []


class Trap:
    """Answers for every outside origin, so that nothing leaves, and keeps what was sent there."""

    def __init__(self, page: Page, player_url: str) -> None:
        self._inside = (player_url, "blob:", "data:")
        self.sent: list[tuple[str, str]] = []
        page.route(lambda url: not url.startswith(self._inside), self._answer)

    def _answer(self, route: Route) -> None:
        request = route.request
        self.sent.append(
            (request.url, json.dumps(request.all_headers()) + (request.post_data or ""))
        )
        route.fulfill(
            status=401,
            headers={"access-control-allow-origin": "*", "access-control-allow-headers": "*"},
            content_type="application/json",
            body='{"error": {"message": "no"}}',
        )

    def strays(self, entered: dict[str, str]) -> list[tuple[str, str]]:
        """Requests that carried a key to another origin than the one it was entered for."""
        return [
            (url, key)
            for url, text in self.sent
            for key, origin in entered.items()
            if key in url + text and not url.startswith(f"{origin}/")
        ]


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_done_a_key_goes_to_its_own_origin(
    page: Page, player_url: str, seed: int
) -> None:
    trap = Trap(page, player_url)
    app = open_settings(AppPage(page, player_url).open().open_sample())
    chance = random.Random(seed)
    options = app.page.get_by_label("Provider").locator("option")
    presets = [str(option.get_attribute("value")) for option in options.all()]
    urls = ("https://one.example/v1", "https://one.example:8443/v1", "http://two.example/v1")
    entered: dict[str, str] = {}

    def key() -> None:
        if app.by("api-key").is_enabled():
            text = f"sk-key-number-{len(entered)}"
            app.by("api-key").fill(text)
            shown = urlsplit(app.by("base-url").input_value())
            entered[text] = f"{shown.scheme}://{shown.netloc}"

    def url() -> None:
        text = chance.choice(urls)
        app.by("base-url").fill("")
        app.by("base-url").press_sequentially(text[: chance.randint(1, len(text))])

    def choose() -> None:
        app.page.get_by_label("Provider").select_option(chance.choice(presets))

    def press() -> None:
        name = chance.choice(("List the models", "Test the connection"))
        app.page.get_by_role("button", name=name).click()

    def reopen() -> None:
        app.page.keyboard.press("Escape")
        open_settings(app)

    def speak() -> None:
        app.by("model-main").fill("m")
        app.page.keyboard.press("Escape")  # a half-typed base URL keeps "Done" from closing
        expect(app.by("settings")).to_be_hidden()
        app.say("Hello")
        app.page.wait_for_timeout(300)
        open_settings(app)

    steps = (key, key, key, url, url, choose, choose, press, press, reopen, speak)
    for _ in range(40):
        chance.choice(steps)()
    app.page.wait_for_timeout(500)
    assert any(text in sent for text in entered for _, sent in trap.sent)
    assert trap.strays(entered) == []


def backup_by_somebody_else(path: Path, settings: dict[str, object]) -> Path:
    """A backup as an older version wrote it, with settings that lead elsewhere and a key."""
    lines = [
        {"key": ["app"], "value": json.dumps(settings)},
        {"key": ["api_key"], "value": '"sk-theirs"'},
    ]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("backup.json", '{"format": "personae-backup", "version": 1}')
        archive.writestr("settings.jsonl", "\n".join(map(json.dumps, lines)))
        for table in ("packages", "conversations", "entries", "stores"):
            archive.writestr(f"{table}.jsonl", "")
    return path


def test_a_backup_by_somebody_else_moves_no_key(
    app: AppPage, provider: ModelProvider, tmp_path: Path
) -> None:
    app.use_provider(provider.base_url, key="sk-mine")
    open_settings(app)
    app.page.get_by_role("radio", name="On this device").check(force=True)
    app.page.wait_for_timeout(500)
    evil = {
        "base_url": "https://evil.example/v1",
        "model": "dear",
        "cap_response": 10**9,
        "temperature": 0.25,
    }
    path = backup_by_somebody_else(tmp_path / "theirs.zip", evil)
    app.page.locator("[data-change=restore]").set_input_files(path)
    question = app.page.locator("dialog.ask[open]")
    expect(question).to_contain_text("changes temperature to 0.25", timeout=READY)
    expect(question).to_contain_text("provider, models and caps are not taken over")
    with app.page.expect_event("load"):
        app.page.get_by_role("button", name="Restore", exact=True).click()
    open_settings(app.started().talks_to(NAME))
    expect(app.by("base-url")).to_have_value(provider.base_url)
    expect(app.by("api-key")).to_have_value("sk-mine")
    expect(app.by("model-main")).to_have_value("test")
    expect(app.by("temperature")).to_have_value("0.25")
    assert "sk-theirs" not in stored(app)
    assert "evil" not in stored(app)


def test_a_backup_that_unpacks_to_far_more_does_not_hold_the_page_up(
    app: AppPage, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.zip"
    line = json.dumps({"key": ["c", "agent"], "value": "x" * (1 << 20)}) + "\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("backup.json", '{"format": "personae-backup", "version": 1}')
        for number in range(10):
            archive.writestr(f"stores/{number}.jsonl", line * 60)
    assert path.stat().st_size < 1_300_000
    open_settings(app)
    tasks = BusyTasks(browser, app.page)
    tasks.start()
    app.page.locator("[data-change=restore]").set_input_files(path)
    expect(app.by("progress")).to_contain_text("Reading", timeout=READY)
    app.page.wait_for_timeout(1_500)
    app.page.get_by_role("button", name="Cancel").click()
    expect(app.by("progress")).to_be_hidden()
    expect(app.by("settings")).to_be_visible()
    assert tasks.stop() <= 50


def stored(app: AppPage) -> str:
    """Everything in the page's storage that could hold a key, as text."""
    return str(
        app.page.evaluate(
            """async () => {
                const found = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)];
                for (const {name} of await indexedDB.databases()) {
                    const open = (resolve) => {
                        const request = indexedDB.open(name);
                        request.onsuccess = () => resolve(request.result);
                    };
                    const database = await new Promise(open);
                    for (const table of database.objectStoreNames) {
                        const all = database.transaction(table).objectStore(table).getAll();
                        await new Promise((resolve) => (all.onsuccess = resolve));
                        found.push(JSON.stringify(all.result));
                    }
                    database.close();
                }
                return found.join();
            }"""
        )
    )


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


def test_a_key_that_one_tab_has_forgotten_is_not_stored_again_by_another(
    app: AppPage, provider: ModelProvider, player_url: str
) -> None:
    open_settings(app)
    app.by("base-url").fill(provider.base_url)
    app.by("api-key").fill("sk-device-key")
    app.page.get_by_role("radio", name="On this device").check(force=True)
    done(app)
    eventually(app.page, lambda: "sk-device-key" in app.kept())
    other = AppPage(app.page.context.new_page(), player_url).open()
    open_settings(other)
    expect(other.by("api-key")).to_have_value("sk-device-key")
    open_settings(app)
    app.page.get_by_role("radio", name="For this session").check(force=True)
    done(app)
    eventually(app.page, lambda: "sk-device-key" not in app.kept())
    other.by("model-main").fill("chosen-there")
    done(other)
    eventually(app.page, lambda: "chosen-there" in app.kept())
    assert "sk-device-key" not in app.kept()
    other.page.close()


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


def test_a_number_that_makes_no_sense_is_said_and_not_taken(app: AppPage) -> None:
    open_settings(app)
    field = app.by("temperature")
    field.fill("9")
    expect(field).to_have_attribute("aria-invalid", "true")
    complaint = field.locator("xpath=..").get_by_role("alert")
    expect(complaint).to_contain_text("It has to be from 0 to 2.")
    app.page.get_by_role("button", name="Done").click()
    expect(field).to_be_focused()
    expect(app.by("settings")).to_be_visible()
    app.page.keyboard.press("Escape")
    expect(app.by("toast").last).to_contain_text("Temperature was not changed")
    open_settings(app)
    expect(field).to_have_value("")
    expect(complaint).to_be_hidden()


def test_a_key_without_a_model_is_enough(app: AppPage, provider: ModelProvider) -> None:
    provider.set_models("text-embedding-3", "talker", "other")
    open_settings(app)
    app.by("base-url").fill(provider.base_url)
    app.by("api-key").fill("sk-test")
    done(app)
    expect(app.page.locator("#model-chip")).to_contain_text("talker")
    provider.script(says("A real answer."))
    app.say("Hello").answered("A real answer.")
    assert provider.chats[-1].body["model"] == "talker"


def test_done_does_not_leave_a_provider_without_a_model(
    app: AppPage, provider: ModelProvider
) -> None:
    provider.set_models()
    open_settings(app)
    app.by("base-url").fill(provider.base_url)
    app.by("api-key").fill("sk-test")
    app.page.get_by_role("button", name="Done").click()
    expect(app.by("settings")).to_contain_text("Type the name of a main model", timeout=READY)
    expect(app.by("model-main")).to_be_focused()
    app.page.keyboard.press("Escape")
    expect(app.page.locator("#model-chip")).to_contain_text("No model chosen")
    app.say("Hello")
    expect(app.by("error-banner")).to_contain_text("No model is chosen", timeout=READY)
    expect(app.messages()).to_have_count(0)


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
