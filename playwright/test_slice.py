"""A character from a link to a conversation that survives: the whole path in a real browser."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from app_page import READY, AppPage
from faults.world import eventually
from playwright.sync_api import BrowserContext, Page, Request, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import (
    Stall,
    calls,
    chunk,
    error,
    event,
    reply_json,
    says,
    stream,
)

NAME = "Wren Tallow"


@pytest.fixture
def app(page: Page, player_url: str) -> AppPage:
    return AppPage(page, player_url)


def test_a_streaming_model_calls_the_agent(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME).use_provider(provider.base_url)
    provider.script(
        calls(("roll_dice", {"sides": 6, "count": 2}), ids=["call_1"]), says("They fell.")
    )
    app.say("Roll for me").answered("They fell.")
    first, second = (chat.body for chat in provider.chats)
    assert [tool["function"]["name"] for tool in first["tools"]] == ["roll_dice"]
    roles = [message["role"] for message in first["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert [first["messages"][1].get("isFile"), first["stream"]] == [True, True]
    call, result = second["messages"][-2:]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"] == "call00001"
    assert result["content"].startswith("2d6:")
    provider.script(says("Once more."))
    app.say("And now?").answered("Once more.")
    third = provider.last_messages()
    assert "How the dice fell so far" in third[2]["content"]
    assert third[2]["isFile"] is True
    assert not any(message["role"] == "tool" for message in third)


def test_a_package_without_cors_comes_through_the_proxy(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/closed.zip", sample_zip.read_bytes(), cors=False)
    app.open(f"?loadCharacter={link}").talks_to(NAME)


@pytest.mark.parametrize("way", ["link", "file", "drop"])
def test_each_way_to_bring_a_package(
    app: AppPage, provider: ModelProvider, sample_zip: Path, way: str
) -> None:
    app.open()
    if way == "link":
        app.open_link(provider.serve("/wren.zip", sample_zip.read_bytes()))
    elif way == "file":
        app.open_file(sample_zip)
    else:
        app.drop_file(sample_zip)
    app.talks_to(NAME)


def test_a_folder_is_a_link_as_well(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    with zipfile.ZipFile(sample_zip) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    for name, content in files.items():
        provider.serve(f"/wren/{name}", content, "application/octet-stream")
    listing = provider.serve("/wren/files.json", json.dumps(list(files)).encode())
    asked: list[str] = []
    app.page.on("request", lambda request: asked.append(request.url))
    folder = listing.removesuffix("files.json")
    app.open(f"?loadCharacter={folder}").talks_to(NAME)
    assert asked.count(listing) == 1
    assert folder not in asked
    app.page.locator("nav [data-action=show-start]").last.click()
    provider.serve("/wren/intro.txt", b"Another intro.")
    app.by("library-item").first.get_by_label(f"More for {NAME}").click()
    app.page.get_by_role("menuitem", name="Update from the link").click()
    expect(app.by("toast")).to_contain_text("Changed: intro.txt.", timeout=READY)
    expect(app.by("intro")).to_contain_text("Another intro.")


def test_a_loaded_package_opens_again_when_its_server_is_gone(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME)
    provider.reset()
    app.open()
    app.by("library-item").filter(has_text=NAME).first.click()
    app.talks_to(NAME)


def test_everything_wrong_with_a_package_is_listed(app: AppPage, tmp_path: Path) -> None:
    path = tmp_path / "broken.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", '{"name": "B", "agents": ["b.one", "b.two"]}')
        archive.writestr("instructions.txt", "x")
        archive.writestr("agents/b.one.js", "export const nothing = 1;")
    app.open().open_file(path)
    banner = app.by("error-banner").first
    expect(banner).to_contain_text("b.one", timeout=READY)
    expect(banner).to_contain_text("b.two")


TOOL = {"index": 0, "id": "c1", "type": "function", "function": {"name": "roll_dice"}}
QUIRKS = {
    "finish reason stop on a tool call": [
        chunk({"tool_calls": [TOOL | {"function": {"name": "roll_dice", "arguments": "{}"}}]}),
        chunk({}, "stop"),
    ],
    "no index, arguments as an object, no done": [
        chunk(
            {"tool_calls": [{"id": "c1", "function": {"name": "roll_dice", "arguments": {}}}]},
            "tool_calls",
        ),
    ],
    "empty choices, comments and usage": [
        b": keep-alive\n\n",
        event({"choices": []}),
        chunk({"tool_calls": [TOOL | {"function": {"name": "roll_dice", "arguments": "{"}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]}),
        event({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}),
    ],
}


@pytest.mark.parametrize("quirk", QUIRKS)
def test_provider_quirks_still_reach_the_agent(
    app: AppPage, provider: ModelProvider, sample_zip: Path, quirk: str
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME).use_provider(provider.base_url)
    provider.script(stream(*QUIRKS[quirk]), says("Done."))
    app.say("Roll").answered("Done.")
    assert provider.last_messages()[-1]["content"].startswith("1d20:")


def test_bad_arguments_are_answered_and_reach_no_agent(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME).use_provider(provider.base_url)
    provider.script(
        calls(("roll_dice", {"sides": "many"}), ("juggle", {})), says("I will try again.")
    )
    app.say("Roll").answered("I will try again.")
    wrong, unknown = (message["content"] for message in provider.last_messages()[-2:])
    assert "sides" in wrong
    assert "integer" in wrong
    assert "juggle" in unknown
    expect(app.by("audit-entry")).to_have_count(0)


def test_a_prompt_file_agent_plays(app: AppPage, provider: ModelProvider, tmp_path: Path) -> None:
    path = tmp_path / "scholar.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", '{"name": "Scholar", "agents": ["lore.subagent.md"]}')
        archive.writestr("instructions.txt", "Be learned.")
        prompt = "---\nname: lore\ndescription: Knows the lore.\n---\nAnswer from %%ARG:question%%"
        archive.writestr("agents/lore.subagent.md", prompt)
    app.open().open_file(path).talks_to("Scholar").use_provider(provider.base_url)
    provider.script(
        calls(("lore", {"question": "Who?"})), reply_json("The heron."), says("It was the heron.")
    )
    app.say("Who was it?").answered("It was the heron.")
    inner = provider.chats[1].body
    assert inner["messages"][0]["content"] == "Answer from Who?"
    assert provider.last_messages()[-1]["content"] == "The heron."


def test_stop_keeps_what_was_streamed(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME).use_provider(provider.base_url)
    provider.script(stream(chunk({"content": "The first half "}), Stall()))
    app.say("Tell me")
    expect(app.messages().last).to_contain_text("The first half", timeout=READY)
    app.by("stop").click()
    app.answered("The first half")
    provider.script(says("Gladly."))
    app.say("Go on").answered("Gladly.")


def test_a_tab_killed_in_a_stream_keeps_the_partial_answer(
    context: BrowserContext, player_url: str, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(context.new_page(), player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    app.use_provider(provider.base_url)
    provider.script(stream(chunk({"content": "Half of it "}), Stall()))
    app.say("Tell me")
    eventually(app.page, lambda: "Half of it" in app.kept())
    app.page.close(run_before_unload=False)
    again = AppPage(context.new_page(), player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    expect(again.messages("user").last).to_contain_text("Tell me")
    expect(again.messages().last).to_contain_text("Half of it")
    provider.script(says("Here again."))
    again.use_provider(provider.base_url).say("Go on").answered("Here again.")


def test_a_second_tab_reads_until_the_first_closes(
    context: BrowserContext, player_url: str, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    first = AppPage(context.new_page(), player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    first.say("Hello").answered("Rehearsal model")
    second = AppPage(context.new_page(), player_url).open(f"?loadCharacter={link}")
    expect(second.by("character-name").first).to_have_text(NAME, timeout=READY)
    expect(second.page.get_by_text("another tab")).to_be_visible(timeout=READY)
    expect(second.by("composer")).not_to_be_editable()
    first.page.close()
    expect(second.by("composer")).to_be_editable(timeout=READY)
    second.say("Me now").answered("Rehearsal model")


def test_http_errors_say_what_to_do_and_rate_limits_are_waited_for(
    app: AppPage, provider: ModelProvider, sample_zip: Path
) -> None:
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app.open(f"?loadCharacter={link}").talks_to(NAME).use_provider(provider.base_url)
    provider.script(error(401, "Incorrect key"))
    app.say("Hello")
    expect(app.by("error-banner").first).to_contain_text("Incorrect key", timeout=READY)
    provider.script(error(429, "Slow down", headers={"retry-after": "1"}), says("Patience pays."))
    app.say("Hello again").answered("Patience pays.")


def test_the_key_goes_to_the_model_endpoint_only(
    page: Page, player_url: str, provider: ModelProvider, sample_zip: Path
) -> None:
    holders: list[str] = []

    def look(request: Request) -> None:
        text = json.dumps(request.all_headers()) + (request.post_data or "") + request.url
        if "sk-secret" in text:
            holders.append(request.url)

    page.on("request", look)
    link = provider.serve("/wren.zip", sample_zip.read_bytes())
    app = AppPage(page, player_url).open(f"?loadCharacter={link}").talks_to(NAME)
    app.use_provider(provider.base_url, key="sk-secret")
    provider.script(says("Hello."))
    app.say("Hi").answered("Hello.")
    assert holders
    assert all(url.startswith(provider.base_url) for url in holders)
