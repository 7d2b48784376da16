"""What an earlier version has stored is all there in this one, see ``earlier``.

One browser context lives through the module: the database is put into it once, and opened by the
player as it is now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from app_page import READY, AppPage
from earlier.life import GONE, serve
from earlier.saved import Json, Saved
from faults.world import exported, moody
from playwright.sync_api import Browser, BrowserContext, Locator, expect

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, reply_json, says

SAVED = Saved.load("version-0.1.0")
CHARACTERS = SAVED.characters()
MANY = 50
"""Entries of which not all are in the page."""
CUT = {"First.": "the player was closed"}
"""Conversations whose tab was killed in a call: what answers the call."""


@pytest.fixture(scope="module")
def context(
    browser: Browser, player_url: str, running_provider: ModelProvider
) -> Iterator[BrowserContext]:
    running_provider.always(lambda body: says("Yes.") if body["stream"] else reply_json("Yes."))
    context = browser.new_context()
    SAVED.put_into(context, player_url, base_url=running_provider.base_url)
    yield context
    context.close()


@pytest.fixture(scope="module")
def living(context: BrowserContext, player_url: str) -> AppPage:
    return AppPage(context.new_page(), player_url).open()


@pytest.fixture
def app(living: AppPage) -> AppPage:
    """The start screen."""
    if not living.by("library").is_visible():
        living.page.locator("nav [data-action=show-start]").last.click()
    return living


def conversations(app: AppPage) -> Locator:
    return app.by("conversation-list").locator(".conversation")


def opened(app: AppPage, character: Json) -> AppPage:
    """The app with the character, as its user opens it."""
    card = app.page.locator(f'[data-testid=library-item][data-id="{character["id"]}"]')
    card.locator("[data-action=open-character]").click()
    return app.talks_to(character["name"])


def show(app: AppPage, head: Json) -> None:
    """Opens a conversation from the list."""
    row = conversations(app).filter(has=app.page.get_by_text(head["title"], exact=True))
    row.locator(".conversation-open").click()
    expect(row).to_have_attribute("aria-current", "true", timeout=READY)
    expect(app.by("composer")).to_be_editable(timeout=READY)


def holds(new: Any, old: Any) -> bool:
    """Whether all of ``old`` is in ``new``: objects may have more fields, lists a longer end."""
    if isinstance(old, dict) and isinstance(new, dict):
        return all(name in new and holds(new[name], value) for name, value in old.items())
    if isinstance(old, list) and isinstance(new, list):
        return len(new) >= len(old) and all(map(holds, new, old))
    return bool(new == old)


def test_every_character_is_in_the_library(app: AppPage) -> None:
    expect(app.by("library-item").locator("[data-part=name]")).to_have_text(
        [character["name"] for character in CHARACTERS], timeout=READY
    )


def test_the_settings_are_the_users(app: AppPage) -> None:
    settings = SAVED.settings()
    app.page.locator("[data-action=open-settings]").first.click()
    for test_id, name in (
        ("api-key", "api_key"),
        ("model-main", "model"),
        ("model-worker", "worker_model"),
        ("temperature", "temperature"),
    ):
        expect(app.by(test_id)).to_have_value(str(settings[name]))
    app.page.keyboard.press("Escape")
    expect(app.by("settings")).to_be_hidden()


@pytest.mark.parametrize("character", CHARACTERS, ids=lambda character: str(character["name"]))
def test_every_conversation_is_there(app: AppPage, character: Json, tmp_path: Path) -> None:
    heads = SAVED.conversations(character["id"])
    opened(app, character)
    titles = conversations(app).locator("[data-part=title]")
    expect(titles).to_have_text([head["title"] for head in heads], timeout=READY)
    for head in heads:
        show(app, head)
        found = exported(app, tmp_path)
        assert found["conversation"]["id"] == head["id"]
        check_head(found["conversation"], head)
        check_entries(found["entries"], head)
        check_stores(found["stores"], head)
        check_what_is_shown(app, head)


def check_head(found: Json, head: Json) -> None:
    for name in ("characterId", "title", "named", "createdAt"):
        assert found[name] == head[name], name
    for name in ("nextEntry", "lastToolCallId", "tokensSpent"):
        assert found[name] >= head[name], name


def check_entries(found: list[Json], head: Json) -> None:
    """The old ones as they were; only what a killed tab left open has got an end."""
    entries = SAVED.entries(head["id"])
    assert entries
    assert holds(found, entries)
    added = [entry["content"] for entry in found[len(entries) :]]
    assert len(added) == (head["title"] in CUT)
    for text in added:
        assert CUT[head["title"]] in text


def check_stores(found: Json, head: Json) -> None:
    """All that the agents knew; what a hook of the opening changes is its own business."""
    for agent_id, store in SAVED.stores(head["id"]).items():
        kept = {name: value for name, value in store.items() if name != "startedLate"}
        assert holds(found[agent_id], kept), agent_id


def check_what_is_shown(app: AppPage, head: Json) -> None:
    """The end of the conversation is in view, with its marks."""
    entries = SAVED.entries(head["id"])
    last = [entry for entry in entries if entry["role"] in ("user", "assistant")][-1]
    message = app.page.locator(f'[data-entry-id="{last["id"]}"]').last
    expect(message).to_be_in_viewport()
    if last["content"]:
        expect(message).to_contain_text(re.split("[*`]", last["content"])[0].strip())
    if last.get("stopped"):
        expect(message.locator("[data-part=stopped]")).to_be_visible()
    if len(entries) < MANY:
        said = [entry["content"] for entry in entries if entry["role"] == "user"]
        expect(app.messages("user").locator(".prose")).to_have_text(said)
        rejected = any(entry.get("rejected") for entry in entries)
        expect(app.page.locator("[data-part=rejected]:visible")).to_have_count(int(rejected))


@pytest.mark.parametrize(
    ("name", "title"),
    [("Mara", "What happened?"), ("Mara", "A second evening."), ("Ferry", "Do everything."),
     ("Wren Tallow", "The road not taken")],
)  # fmt: skip
def test_the_agents_stores_and_logs_are_in_the_panel(app: AppPage, name: str, title: str) -> None:
    character = next(one for one in CHARACTERS if one["name"] == name)
    head = next(one for one in SAVED.conversations(character["id"]) if one["title"] == title)
    stores, logs = SAVED.stores(head["id"]), SAVED.logs(head["id"])
    assert stores
    assert bool(logs) == (name == "Mara")
    opened(app, character)
    show(app, head)
    app.page.locator("#inspector-toggle").click()
    for agent_id, store in stores.items():
        card = app.by("agent-panel").locator(f'.agent[data-id="{agent_id}"]')
        if card.get_attribute("open") is None:
            card.locator("summary").first.click()
        for field in store:
            expect(card.locator(".tree")).to_contain_text(field)
        shown = card.locator(".log-line").all_inner_texts() if agent_id in logs else []
        for line, record in zip(shown, logs.get(agent_id, ()), strict=False):
            assert record["text"] in line
        assert len(shown) >= len(logs.get(agent_id, ()))
    app.page.locator("#inspector-toggle").click()


def test_a_granted_call_is_told_with_the_call_it_belongs_to(app: AppPage) -> None:
    ferry = next(one for one in CHARACTERS if one["name"] == "Ferry")
    opened(app, ferry)
    show(app, next(h for h in SAVED.conversations(ferry["id"]) if h["title"] == "Do everything."))
    name = app.page.locator("[data-part=name]").get_by_text("keeper", exact=True)
    chip = app.by("tool-call").filter(has=name)
    chip.locator("summary").click()
    expect(chip.locator("[data-part=granted]")).to_contain_text("roll")
    expect(chip.locator("[data-part=granted]")).to_contain_text("memory_remember")
    expect(chip.locator("[data-part=result]")).to_contain_text("As deep as a 4.")


def test_an_edit_that_no_agent_had_heard_of_is_told(app: AppPage, tmp_path: Path) -> None:
    grumpy = next(one for one in CHARACTERS if one["name"] == "Grumpy")
    [head] = SAVED.conversations(grumpy["id"])
    assert head["edit"]["deletedToolCallIds"] == [1]
    assert "deleted" not in SAVED.stores(head["id"])["test.moody"]
    opened(app, grumpy)
    app.say("Are you there?").answered("Yes.")
    found = exported(app, tmp_path)
    assert found["stores"]["test.moody"]["deleted"] == [[1]]
    assert "edit" not in found["conversation"]


def test_a_removed_character_finds_its_conversation(
    app: AppPage, context: BrowserContext, tmp_path: Path
) -> None:
    [head] = [one for one in SAVED.all_heads() if one["title"] == "Do not forget me."]
    assert head["characterId"] not in [one["id"] for one in CHARACTERS]
    serve(context, GONE, moody(tmp_path, name="Gone").read_bytes())
    app.open_link(GONE).talks_to("Gone")
    expect(conversations(app)).to_have_count(1)
    found = exported(app, tmp_path)
    check_head(found["conversation"], head)
    check_entries(found["entries"], head)
    check_stores(found["stores"], head)


def test_damaged_records_are_left_as_they_are(app: AppPage) -> None:
    """A line of a log may go where logs are kept."""
    kept = app.page.evaluate("faults.dump()")
    for table, key in SAVED.damaged:
        if key[2:3] == ["log"]:
            continue
        [value] = [value for name, other, value in SAVED.records if (name, other) == (table, key)]
        assert [key, value] in kept[table]


@pytest.mark.parametrize(
    ("name", "title", "call", "answer"),
    [
        ("Wren Tallow", "The Drowned Bell, please.", ("roll_dice", {"sides": 6}), "1d6: "),
        ("Mara", "What happened?", ("log_event", {"what": "Went on"}), "Written: Went on"),
        ("Ferry", "Do everything. (fork)", ("roll", {"sides": 8}), "8 (roll 3, call 8)"),
        ("Moody", "First.", ("act", {"how": "well"}), "did 4"),
    ],
)
def test_the_conversation_goes_on(
    app: AppPage,
    running_provider: ModelProvider,
    name: str,
    title: str,
    call: tuple[str, Json],
    answer: str,
) -> None:
    """The agents know what they knew, and the numbers of calls go on where they were."""
    character = next(one for one in CHARACTERS if one["name"] == name)
    opened(app, character)
    show(app, next(h for h in SAVED.conversations(character["id"]) if h["title"] == title))
    running_provider.script(calls(call), says("Still here."))
    app.say("And now?").answered("Still here.")
    assert answer in running_provider.last_messages()[-1]["content"]
