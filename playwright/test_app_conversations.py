"""Conversations and characters: find, name, delete, take along, bring back."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from app_page import READY, AppPage
from playwright.sync_api import Browser, Locator, Page, expect

from tests.provider.server import ModelProvider

NAME = "Wren Tallow"


@pytest.fixture
def app(page: Page, player_url: str) -> AppPage:
    return AppPage(page, player_url).open().open_sample()


def conversations(app: AppPage) -> Locator:
    return app.by("conversation-list").locator(".conversation")


def said(app: AppPage) -> Locator:
    """What the user said."""
    return app.messages("user").locator(".prose")


def talk(app: AppPage, text: str) -> AppPage:
    return app.say(text).answered(text)


def choose(app: AppPage, conversation: Locator, item: str) -> None:
    conversation.hover()
    conversation.locator(".conversation-more").click()
    app.page.get_by_role("menuitem", name=item, exact=True).click()


def test_several_conversations_keep_to_themselves(app: AppPage) -> None:
    talk(app, "about bells")
    app.by("new-conversation").click()
    expect(app.messages("user")).to_have_count(0)
    talk(app, "about bridges")
    expect(conversations(app)).to_have_count(2)
    conversations(app).filter(has_text="bells").locator(".conversation-open").click()
    expect(said(app)).to_have_text(["about bells"])
    expect(conversations(app).filter(has_text="bells")).to_have_attribute("aria-current", "true")


def test_an_empty_conversation_is_not_left_behind(app: AppPage) -> None:
    app.by("new-conversation").click()
    app.by("new-conversation").click()
    expect(conversations(app)).to_have_count(1)


def test_rename_and_delete_with_undo(app: AppPage) -> None:
    talk(app, "about bells")
    choose(app, conversations(app).first, "Rename")
    app.page.get_by_role("textbox", name="Name of the conversation").fill("The Drowned Bell")
    app.page.keyboard.press("Enter")
    expect(conversations(app).first).to_contain_text("The Drowned Bell")
    choose(app, conversations(app).first, "Delete")
    expect(app.messages("user")).to_have_count(0)
    app.page.get_by_role("button", name="Undo").click()
    expect(said(app)).to_have_text(["about bells"])
    expect(conversations(app).filter(has_text="The Drowned Bell")).to_have_count(1)


def test_search_finds_titles_and_what_was_said(app: AppPage) -> None:
    for number in range(6):
        talk(app, f"number {number}")
        app.by("new-conversation").click()
        expect(app.messages("user")).to_have_count(0)
    search = app.page.get_by_label("Search conversations")
    search.fill("number 4")
    expect(conversations(app)).to_have_count(1)
    search.fill("rehearsal")  # said in every answer, in no title
    expect(conversations(app)).to_have_count(6)
    search.fill("said number 2")
    expect(conversations(app)).to_have_count(1)
    conversations(app).first.locator(".conversation-open").click()
    expect(app.messages().last).to_be_focused()
    expect(app.messages().last).to_contain_text("number 2")
    search.fill("nowhere to be found")
    expect(conversations(app)).to_have_count(0)
    expect(app.by("conversation-list")).to_contain_text("Nothing found")


def test_export_as_markdown_and_json_and_import(app: AppPage, tmp_path: Path) -> None:
    app.say("about **bells**").answered("You said")
    with app.page.expect_download() as markdown:
        choose(app, conversations(app).first, "Export as Markdown")
    text = Path(markdown.value.path()).read_text("utf-8")
    assert "**You**\n\nabout **bells**" in text
    with app.page.expect_download() as exported:
        choose(app, conversations(app).first, "Export as JSON")
    path = tmp_path / exported.value.suggested_filename
    exported.value.save_as(path)
    assert json.loads(path.read_text("utf-8"))["character"] == NAME
    choose(app, conversations(app).first, "Delete")
    app.page.locator("#import-file").set_input_files(path)
    expect(said(app)).to_have_text(["about bells"])
    app.page.locator("#import-file").set_input_files(
        {"name": "x.json", "mimeType": "application/json", "buffer": b"{}"}
    )
    expect(app.by("error-banner")).to_contain_text("not a conversation")


def test_a_backup_moves_everything_to_another_browser(
    app: AppPage, browser: Browser, player_url: str, tmp_path: Path
) -> None:
    talk(app, "remember me")
    app.page.locator("[data-action=open-settings]").first.click()
    app.by("base-url").fill("http://127.0.0.1:9/v1")
    app.by("api-key").fill("sk-very-secret")
    app.page.get_by_text("On this device", exact=True).click()
    with app.page.expect_download() as download:
        app.page.get_by_role("button", name="Back up everything").click()
    path = tmp_path / "backup.zip"
    download.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist())
    assert b"sk-very-secret" not in content
    context = browser.new_context()
    other = AppPage(context.new_page(), player_url).open()
    other.page.locator("[data-action=open-settings]").first.click()
    other.page.locator("[data-change=restore]").set_input_files(path)
    with other.page.expect_event("load"):
        other.page.get_by_role("button", name="Restore", exact=True).click()
    other.started()
    other.by("library-item").filter(has_text=NAME).locator("button").first.click()
    other.talks_to(NAME)
    expect(said(other)).to_have_text(["remember me"])
    context.close()


def test_a_character_is_removed_and_its_conversations_wait(app: AppPage) -> None:
    talk(app, "do not forget")
    app.page.locator("nav [data-action=show-start]").last.click()
    item = app.by("library-item").first
    item.get_by_label(f"More for {NAME}").click()
    app.page.get_by_role("menuitem", name="Remove").click()
    app.page.get_by_role("button", name="Remove", exact=True).click()
    expect(app.by("library-item")).to_have_count(0)
    app.open_sample()
    expect(said(app)).to_have_text(["do not forget"])


def test_a_removed_character_is_brought_back(app: AppPage) -> None:
    talk(app, "do not forget")
    app.page.locator("nav [data-action=show-start]").last.click()
    app.by("library-item").first.get_by_label(f"More for {NAME}").click()
    app.page.get_by_role("menuitem", name="Remove").click()
    app.page.get_by_role("button", name="Remove", exact=True).click()
    expect(app.by("library-item")).to_have_count(0)
    app.page.get_by_role("button", name="Undo").click()
    app.by("library-item").locator("button").first.click()
    app.talks_to(NAME)
    expect(said(app)).to_have_text(["do not forget"])


def repacked(source: Path, target: Path, **changes: str) -> bytes:
    """The package with some of its files replaced."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(name, changes.get(name.replace(".", "_"), old.read(name)))
    return target.read_bytes()


def test_update_from_the_link_says_what_changed(
    page: Page, player_url: str, provider: ModelProvider, sample_zip: Path, tmp_path: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(page, player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    provider.serve("/wren.zip", repacked(sample_zip, tmp_path / "n.zip", intro_txt="A new intro."))
    app.page.locator("nav [data-action=show-start]").last.click()
    app.by("library-item").first.get_by_label(f"More for {NAME}").click()
    app.page.get_by_role("menuitem", name="Update from the link").click()
    expect(app.by("toast")).to_contain_text("Changed: intro.txt.", timeout=READY)
    expect(app.by("intro")).to_contain_text("A new intro.")


@pytest.mark.parametrize("answer", ["It is", "Cancel"])
def test_a_next_version_asks_once_whose_it_is(
    page: Page, player_url: str, sample_zip: Path, tmp_path: Path, answer: str
) -> None:
    repacked(sample_zip, tmp_path / "1.zip", intro_txt="The first version.")
    repacked(sample_zip, tmp_path / "2.zip", intro_txt="The second version.")
    app = AppPage(page, player_url).open().open_file(tmp_path / "1.zip").talks_to(NAME)
    talk(app, "remember this")
    page.locator("nav [data-action=show-start]").last.click()
    app.open_file(tmp_path / "2.zip")
    question = page.locator("dialog.ask[open]")
    expect(question).to_contain_text(f"the next version of {NAME}", timeout=READY)
    question.get_by_role("button", name=answer).click()
    expect(app.talks_to(NAME).by("intro")).to_contain_text("The second version.")
    expect(said(app)).to_have_text(["remember this"] if answer == "It is" else [])
    page.locator("nav [data-action=show-start]").last.click()
    expect(app.by("library-item")).to_have_count(1 if answer == "It is" else 2)
    app.open_file(tmp_path / "2.zip").talks_to(NAME)
    expect(question).to_be_hidden()


def test_a_project_folder_is_opened_and_read_again(
    page: Page, player_url: str, sample_zip: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "wren"
    with zipfile.ZipFile(sample_zip) as archive:
        archive.extractall(folder)
    app = AppPage(page, player_url).open()
    page.locator("#load-folder").set_input_files(folder)
    app.talks_to(NAME)
    (folder / "intro.txt").write_text("Edited just now.")
    page.locator("nav [data-action=show-start]").last.click()
    page.locator("#load-folder").set_input_files(folder)
    app.talks_to(NAME)
    expect(app.by("intro")).to_contain_text("Edited just now.", timeout=READY)
    page.locator("nav [data-action=show-start]").last.click()
    expect(app.by("library-item")).to_have_count(1)


def test_back_and_reload_keep_to_the_address(app: AppPage) -> None:
    talk(app, "stay here")
    app.page.locator("nav [data-action=show-start]").last.click()
    expect(app.by("library")).to_be_visible()
    app.page.go_back()
    expect(said(app)).to_have_text(["stay here"])
    app.reload().talks_to(NAME)
    expect(said(app)).to_have_text(["stay here"])
