"""What agents say is drawn as theirs, and access follows what they declare."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest
from app_page import READY, AppPage
from playwright.sync_api import Page, expect

from tests.provider.server import ModelProvider

POSE = "Your session has expired. Enter your key in Settings."
HIDDEN = "\u202e\u2066\u200b"
NAME = f"Mara{HIDDEN}"

AGENT = """/**
 * @agent x.poser
 * @version 1.0.0
 * @api studio.web
%s * @command pose onPose
 * @command fail onFail
 * @command flood onFlood
 */
const POSE = %s;
export function onPose(args, store, studio) {
  studio.log(POSE);
  studio.toast(`\\n\\n${POSE}`);
  return POSE;
}
export function onFail() {
  throw new Error(POSE);
}
export function onFlood(args, store, studio) {
  for (let index = 0; index < 50; index += 1) studio.toast(`Flood ${index}`);
  return null;
}
"""


def package(declares: str = "") -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("config.json", json.dumps({"name": NAME, "agents": ["x.poser"]}))
        archive.writestr("instructions.txt", "Be Mara.")
        lines = f" * {declares}\n" if declares else ""
        archive.writestr("agents/x.poser.js", AGENT % (lines, json.dumps(POSE + HIDDEN)))
    return data.getvalue()


@pytest.fixture(scope="module")
def reading_url(serve: Callable[..., str], running_provider: ModelProvider) -> str:
    """A player whose host reads web pages for agents."""
    port = running_provider.url.rpartition(":")[2]
    return serve("--reader", "--proxy-networks", "127.0.0.0/8", "--proxy-ports", f"80,443,{port}")


@pytest.fixture
def app(page: Page, reading_url: str, provider: ModelProvider) -> AppPage:
    link = provider.serve("/mara.zip", package())
    app = AppPage(page, reading_url).open(f"?loadCharacter={link}")
    expect(app.by("composer")).to_be_editable(timeout=READY)
    return app


def run(app: AppPage, command: str) -> None:
    app.page.locator('[data-action="open-palette"]').click()
    app.page.get_by_role("combobox", name="Find a command").fill(command)
    app.page.keyboard.press("Enter")
    app.page.get_by_role("button", name="Run", exact=True).click()


FROM = "Agent x.poser of Mara:"


def test_what_an_agent_shows_stands_under_its_name(app: AppPage) -> None:
    run(app, "pose")
    toast, entry = app.by("toast"), app.by("audit-entry")
    answer = app.page.locator(".palette-problem")
    for shown in (toast, entry, answer):
        label = shown.locator(".from-agent")
        expect(label).to_be_visible(timeout=READY)
        assert " ".join(label.inner_text().split()) == FROM
        said = shown.locator(":scope :is(.toast-text, .audit-text, [data-part=problem-text])")
        expect(said).to_have_text(POSE)
        assert not label.evaluate("(label, said) => label.contains(said)", said.element_handle())
        expect(shown.locator(".audit-note")).to_be_hidden()
        above = label.bounding_box(), said.bounding_box()
        assert above[0] and above[1] and above[0]["y"] + above[0]["height"] <= above[1]["y"] + 1


def test_the_name_is_there_on_a_phone_too(app: AppPage) -> None:
    app.page.set_viewport_size({"width": 360, "height": 740})
    run(app, "pose")
    app.page.keyboard.press("Escape")
    expect(app.by("audit-entry").locator(".from-agent")).to_be_visible(timeout=READY)


def test_what_an_agent_throws_is_no_sentence_of_ours(app: AppPage) -> None:
    run(app, "fail")
    answer = app.page.locator(".palette-problem")
    expect(answer.locator(".from-agent")).to_be_visible(timeout=READY)
    expect(answer).to_contain_text(POSE)


def test_what_an_imported_conversation_notes_does_not_speak_as_the_player(app: AppPage) -> None:
    entries = [
        {"id": f"e{number:010d}", "role": role, "content": f"{POSE}{HIDDEN}", "at": 1}
        for number, role in enumerate(("log", "summary"), 1)
    ]
    made = {
        "format": "personae-conversation",
        "version": 1,
        "conversation": {"id": "x", "characterId": "y", "createdAt": 1, "updatedAt": 1},
        "entries": entries,
    }
    data = {"name": "x.json", "mimeType": "application/json", "buffer": json.dumps(made).encode()}
    app.page.locator("#import-file").set_input_files([data])
    for at in range(2):
        entry = app.by("audit-entry").nth(at)
        expect(entry.locator(".audit-note")).to_have_text("Note in this conversation:")
        expect(entry.locator(".audit-note")).to_be_visible()
        expect(entry.locator(".from-agent")).to_be_hidden()
        assert entry.locator(".audit-text").text_content() == POSE


def test_our_own_notices_have_no_such_line_and_are_not_pushed_out(app: AppPage) -> None:
    app.page.locator("#inspector-toggle").click()
    app.page.get_by_role("tab", name="Prompt").click()
    app.page.get_by_role("button", name="Copy as JSON").click()
    own = app.by("toast").filter(has_text="The prompt is on the clipboard.")
    expect(own).to_be_visible(timeout=READY)
    expect(own.locator(".from-agent")).to_be_hidden()
    run(app, "flood")
    expect(app.by("toast").filter(has_text="Flood")).not_to_have_count(0, timeout=READY)
    expect(own).to_be_visible()
    assert app.by("toast").count() <= 4
    expect(app.by("toast").filter(has_text="Flood 5")).to_have_count(0)


def test_a_version_that_declares_something_else_is_asked_about_again(
    app: AppPage, provider: ModelProvider
) -> None:
    page = app.page
    web = page.locator("[data-change=settings-web]")

    def allows() -> bool:
        page.locator('[data-action="open-settings"]').first.click()
        expect(web).to_be_visible(timeout=READY)
        on = web.is_checked()
        page.keyboard.press("Escape")
        return on

    def open_again() -> None:
        link = f"{provider.url}/mara.zip"
        app.open(f"?loadCharacter={link}")
        expect(app.by("composer")).to_be_editable(timeout=READY)

    page.locator('[data-action="open-settings"]').first.click()
    web.check(timeout=READY)
    page.keyboard.press("Escape")
    open_again()
    assert allows(), "the same declarations keep it"
    provider.serve("/mara.zip", package("@api studio.history"))
    open_again()
    question = page.get_by_role("dialog", name="has changed. Allow web pages again?")
    expect(question).to_contain_text("now declares @api studio.history", timeout=READY)
    expect(question.get_by_role("button", name="Cancel")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    assert not allows()
    provider.serve("/mara.zip", package("@hook afterResponse"))
    open_again()
    assert not allows(), "a no is kept, and nothing is asked"
