"""The tab is killed at every step of a turn; the next tab finds everything in order.

One browser context lives through all of it: what a kill leaves behind is the next one's past.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from app_page import READY, AppPage
from faults.world import HERE, NAME, crash, eventually, inject, moody, skip, stored
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import Stall, calls, chunk, reply_json, says, stream

INTERRUPTED = "the player was closed"


@pytest.fixture(scope="module")
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    inject(context)
    yield context
    context.close()


class Tab:
    """The app in the tab that lives now."""

    def __init__(self, app: AppPage, context: BrowserContext) -> None:
        self.app, self._context = app, context
        self.address = app.page.url

    def kill(self) -> AppPage:
        """Kills the tab and opens the player again where it was."""
        crash(self.app.page)
        page = self._context.new_page()
        page.goto(self.address)
        self.app = AppPage(page, self.app.url).started().talks_to(NAME)
        return self.app

    def begin(self) -> AppPage:
        """A new conversation."""
        self.app.by("new-conversation").first.click()
        expect(self.app.messages("user")).to_have_count(0)
        expect(self.app.by("composer")).to_be_editable(timeout=READY)
        return self.app


@pytest.fixture(scope="module")
def living(
    context: BrowserContext,
    player_url: str,
    running_provider: ModelProvider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Tab:
    path = moody(tmp_path_factory.mktemp("package"))
    app = AppPage(context.new_page(), player_url).open().open_file(path).talks_to(NAME)
    app.use_provider(running_provider.base_url, key="")
    return Tab(app, context)


@pytest.fixture
def tab(living: Tab, provider: ModelProvider) -> Tab:
    living.begin()
    return living


def newest(app: AppPage) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Head and entries of the conversation that changed last, as they are stored."""
    records = stored(app.page)
    head = max(records["conversations"].values(), key=lambda head: head["updatedAt"])
    return head, [value for key, value in records["entries"].items() if key[0] == head["id"]]


def given_out(entries: list[dict[str, Any]]) -> list[int]:
    return [
        call["toolCallId"]
        for entry in entries
        for call in entry.get("tool_calls", ())
        if "toolCallId" in call
    ]


def check(app: AppPage, provider: ModelProvider, last_number: int) -> list[dict[str, Any]]:
    """What holds after every kill; the entries as they were found."""
    expect(app.by("composer")).to_be_editable(timeout=READY)
    head, entries = newest(app)
    wanted = [call["id"] for entry in entries for call in entry.get("tool_calls", ())]
    answered = [entry["tool_call_id"] for entry in entries if entry["role"] == "tool"]
    assert sorted(wanted) == sorted(answered)
    assert head["lastToolCallId"] >= max([last_number, *given_out(entries)], default=0)
    provider.script(calls(("act", {"how": ""})), says("Fine."))
    app.say("Go on").answered("Fine.")
    after, further = newest(app)
    assert after["id"] == head["id"]
    fresh = given_out(further[len(entries) :])
    assert fresh == [head["lastToolCallId"] + 1]
    assert further[: len(entries)] == entries, "what was there has changed"
    check_request(provider.last_messages())
    return entries


def check_request(messages: list[dict[str, Any]]) -> None:
    """Every call has its result right behind it."""
    due: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] == due.pop(0)
            continue
        assert due == []
        due = [call["id"] for call in message.get("tool_calls") or ()]
    assert due == []


def roles(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["role"] for entry in entries if entry["role"] != "log"]


def results(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["content"] for entry in entries if entry["role"] == "tool"]


@pytest.mark.parametrize("asked", [False, True], ids=["in the hook before it", "once sent"])
def test_killed_before_the_request_is_answered(
    tab: Tab, provider: ModelProvider, asked: bool
) -> None:
    provider.script(stream(Stall()))
    tab.app.say("Hello" if asked else "hold before")
    provider.wait_for_chats(1)
    assert roles(check(tab.kill(), provider, 0)) == ["user"]


def test_killed_while_streaming_with_half_a_tool_call(tab: Tab, provider: ModelProvider) -> None:
    half = {"index": 0, "id": "c1", "function": {"name": "act", "arguments": '{"how'}}
    provider.script(stream(chunk({"content": "Let me "}), chunk({"tool_calls": [half]}), Stall()))
    tab.app.say("Go")
    eventually(tab.app.page, lambda: "Let me " in [text["content"] for text in newest(tab.app)[1]])
    entries = check(tab.kill(), provider, 0)
    assert roles(entries) == ["user", "assistant"]
    assert entries[-1]["content"] == "Let me "
    assert entries[-1]["stopped"]


def test_killed_between_a_tool_call_and_its_result(tab: Tab, provider: ModelProvider) -> None:
    wanted = (("act", {"how": ""}), ("act", {"how": "hold call"}), ("act", {"how": ""}))
    provider.script(calls(*wanted), stream(Stall()))
    tab.app.say("Go")
    provider.wait_for_chats(2)
    head, _ = newest(tab.app)
    app = tab.kill()
    expect(app.by("tool-call").and_(app.page.locator("[data-state=failed]"))).to_have_count(2)
    entries = check(app, provider, head["lastToolCallId"])
    done, *cut = results(entries)
    assert done == "did 1"
    assert len(cut) == 2
    assert all(INTERRUPTED in text for text in cut)
    ran = [entry["content"] for entry in entries if entry["role"] == "log"]
    assert ran[0] == "act 1"


def test_killed_between_a_result_and_the_next_request(tab: Tab, provider: ModelProvider) -> None:
    provider.script(calls(("act", {"how": ""})), stream(Stall()))
    tab.app.say("Go")
    provider.wait_for_chats(2)
    entries = check(tab.kill(), provider, 1)
    assert roles(entries) == ["user", "assistant", "tool"]
    assert results(entries) == ["did 1"]


def test_killed_in_a_hook(tab: Tab, provider: ModelProvider) -> None:
    provider.script(says("Hi."), stream(Stall()))
    tab.app.say("hold after")
    provider.wait_for_chats(2)
    entries = check(tab.kill(), provider, 0)
    assert [entry["content"] for entry in entries] == ["hold after", "Hi."]


def played(tab: Tab, provider: ModelProvider) -> AppPage:
    """A turn whose tool call an edit can remove; the hook that hears of it is then held."""
    provider.script(calls(("act", {"how": "hold edit"})), says("Done."))
    tab.app.say("Act").answered("Done.")
    provider.script(stream(Stall()))
    return tab.app


def choose(app: AppPage, item: str, role: str = "assistant") -> None:
    message = app.messages(role).first
    message.hover()
    message.get_by_label("More for this message").click()
    app.page.get_by_role("menuitem", name=item, exact=True).click()


def told(app: AppPage, conversation_id: str) -> str:
    return str(stored(app.page)["stores"].get((conversation_id, "test.moody"), ""))


def test_killed_in_an_edit(tab: Tab, provider: ModelProvider) -> None:
    app = played(tab, provider)
    choose(app, "Delete")
    provider.wait_for_chats(3)
    provider.script(reply_json("Let go."), says("Well."))
    app = tab.kill()
    app.say("And now?").answered("Well.")  # no agent asks the model before the user has acted
    entries = check(app, provider, 1)
    assert roles(entries) == ["user", "user", "assistant"]
    head, _ = newest(app)
    assert '"deleted":[[1]]' in told(app, head["id"]), "heard once, though the first was killed"


def test_killed_in_a_fork(tab: Tab, provider: ModelProvider) -> None:
    app = played(tab, provider)
    source, _ = newest(app)
    choose(app, "Fork from here", "user")
    provider.wait_for_chats(3)
    provider.script(reply_json("Let go."), says("Well."))
    app = tab.kill()
    app.say("And now?").answered("Well.")
    entries = check(app, provider, 1)
    assert roles(entries) == ["user", "user", "assistant"]
    fork, _ = newest(app)
    assert fork["id"] != source["id"]
    assert '"deleted":[[1]]' in told(app, fork["id"])
    kept = [value for key, value in stored(app.page)["entries"].items() if key[0] == source["id"]]
    assert results(kept) == ["did 1"]


def files(page: Page) -> list[list[str]]:
    """The keys of the stored package files."""
    keys: list[list[str]] = page.evaluate("faults.keys('files')")
    return keys


def test_killed_while_a_large_package_is_saved(
    browser: Browser, player_url: str, provider: ModelProvider, tmp_path: Path
) -> None:
    """Its files are written a megabyte at a time, the record that names them last."""
    context = browser.new_context()
    inject(context)
    context.add_init_script(path=HERE / "clock.js")
    small = moody(tmp_path, name="Small")
    app = AppPage(context.new_page(), player_url).open().open_file(small).talks_to("Small")
    other = context.new_page()
    other.goto(f"{player_url}/pyscript.json")
    before = files(other)

    large = moody(tmp_path, name="Large")
    with zipfile.ZipFile(large, "a") as archive:
        for number in range(40):
            archive.writestr(f"assets/{number}.bin", Random(number).randbytes(2**20))
    app.page.locator("[data-action=show-start]").first.click()
    app.open_file(large)
    eventually(other, lambda: len(files(other)) > len(before))
    other.evaluate("faults.occupy('files')")
    crash(app.page)
    other.evaluate("faults.release()")
    assert len(files(other)) > len(before), "some of its files are there"
    assert len(stored(other)["packages"]) == 1, "and no record of it"

    app = AppPage(context.new_page(), player_url).open()
    skip(app, 3_000)
    eventually(other, lambda: files(other) == before)
    app.by("library-item").first.click()
    app.talks_to("Small")
    context.close()
