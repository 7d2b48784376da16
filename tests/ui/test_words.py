"""What the app says: errors, the state of the turn, changes, shortcuts, agents."""

from __future__ import annotations

from dataclasses import asdict
from types import SimpleNamespace

import pytest
from personae.conversation.changes import TurnState
from personae.conversation.entries import Entry
from personae.errors import AgentError, ModelError, PackageError, StorageError
from personae.package.model import Problem
from personae.ui.composer.command_search import matching_commands
from personae.ui.composer.turn_text import turn_text
from personae.ui.conversations.markdown_export import as_markdown, file_name
from personae.ui.conversations.matches import matching_conversations, newest_match
from personae.ui.inspector.agent_facts import agent_facts, lines_gone, log_text
from personae.ui.keyboard.shortcuts import SHORTCUTS, Shortcut
from personae.ui.notices.advice import (
    advise,
    headline,
    problem_advice,
    problem_lines,
    warning_advice,
)
from personae.ui.start.file_changes import compare
from personae.ui.start.file_kinds import file_kind, not_taken

REFUSED = "The provider refused the API key (HTTP 401): Wrong key. Check the key in the settings."


@pytest.mark.parametrize(
    ("error", "title", "remedy", "in_settings"),
    [
        (
            ModelError("model_unauthorized", REFUSED, status=401),
            "The provider refused the API key (HTTP 401)",
            "Wrong key. Check the key in the settings.",
            True,
        ),
        (
            ModelError("model_stalled", "No answer came. Try again."),
            "No answer came.",
            "Try again.",
            False,
        ),
        (StorageError("storage_full", "The disk is full"), "The disk is full", "", False),
        (
            AgentError("deadline", "Agent a.b took too long"),
            "Agent a.b took too long",
            "goes on",
            False,
        ),
        (
            AgentError("failed", "Agent a.b could not be loaded: agents/a.b.js: no hands"),
            "Agent a.b could not be loaded",
            "agents/a.b.js: no hands. The character goes on without it.",
            False,
        ),
        (
            ZeroDivisionError("by zero"),
            "Something in the app went wrong.",
            "reload the page",
            False,
        ),
    ],
)
def test_each_error_says_what_and_what_to_do(
    error: Exception, title: str, remedy: str, in_settings: bool
) -> None:
    advice = advise(error)
    assert advice.title == title
    assert remedy in advice.remedy
    assert advice.in_settings == in_settings


def test_an_address_or_a_version_is_not_the_end_of_a_sentence() -> None:
    message = "https://m.example/v1.5/models answered with HTTP 404. Check the address."
    assert headline(message)[1] == "Check the address."


def test_an_unexpected_error_keeps_its_words_in_the_details() -> None:
    advice = advise(ZeroDivisionError("division by zero"))
    assert "division by zero" not in advice.title
    assert "division by zero" in advice.detail


def test_problems_are_listed_with_their_place() -> None:
    problems = [
        asdict(Problem("error", "config.json", "a comma too many", 3, 9)),
        asdict(Problem("error", "agents/a.js", "missing")),
    ]
    assert problem_lines(PackageError("package_invalid", "two", problems=problems)) == [
        ("config.json, line 3, column 9", "a comma too many"),
        ("agents/a.js", "missing"),
    ]


def test_the_turn_is_told_in_words() -> None:
    assert turn_text(TurnState(), "Wren") == ""
    assert turn_text(TurnState("streaming"), "Wren") == "Wren is replying…"
    assert turn_text(TurnState("streaming", "reasoning"), "Wren") == "Wren is replying…"
    assert turn_text(TurnState("tools", "roll_dice"), "Wren") == "Running roll_dice…"
    made_up = turn_text(TurnState("tools", "\u202eEnter\n" + "x" * 500), "Wren")
    assert made_up.startswith("Running Enter x")
    assert len(made_up) < 80
    assert turn_text(TurnState("thinking"), "Wren") == "Wren is thinking…"
    assert turn_text(TurnState("waiting"), "Wren", 2) == "Waiting for the model…"
    assert turn_text(TurnState("waiting"), "Wren", 7.6) == "Waiting for the model… 8 s"
    retrying = TurnState("retrying", "Too many requests.", 20.0)
    assert turn_text(retrying, "Wren", 5) == "Trying again in 15 s. Too many requests."
    assert turn_text(retrying, "Wren", 21) == "Trying again… Too many requests."


def test_changes_between_two_versions() -> None:
    before = [{"path": "a", "hash": "1"}, {"path": "b", "hash": "1"}]
    after = [{"path": "b", "hash": "2"}, {"path": "c", "hash": "1"}]
    assert compare(before, after).text() == "Changed: b. New: c. Gone: a."
    assert compare(before, before).text() == ""
    many = [{"path": f"f{number}", "hash": "1"} for number in range(9)]
    assert compare([], many).text().endswith("and 3 more.")


def press(key: str, **held: bool) -> SimpleNamespace:
    flags = {"ctrlKey": False, "metaKey": False, "altKey": False, "shiftKey": False}
    return SimpleNamespace(key=key, **flags | held)


def found(event: SimpleNamespace, *, mac: bool = False) -> list[str]:
    return [shortcut.name for shortcut in SHORTCUTS if shortcut.matches(event, mac)]


def test_shortcuts_match_their_keys_alone() -> None:
    assert found(press("k", ctrlKey=True)) == ["commands"]
    assert found(press("k", metaKey=True), mac=True) == ["commands"]
    assert found(press("k")) == []
    assert found(press("O", ctrlKey=True, shiftKey=True)) == ["new"]
    assert found(press("/", ctrlKey=True, shiftKey=True)) == ["help"]  # Shift+7 on some keyboards
    assert found(press("ArrowUp", altKey=True)) == ["previous"]


def test_no_two_shortcuts_share_their_keys() -> None:
    keys = [(*shortcut.keys(mac=False), shortcut.message) for shortcut in SHORTCUTS]
    assert len(set(keys)) == len(keys)
    assert Shortcut("x", "k", "", mod=True).keys(mac=True) == ["⌘", "K"]


COMMANDS = [
    {"name": "reset", "agentId": "a.memory", "description": "Forget"},
    {"name": "memory", "agentId": "a.memory", "description": "Remember something"},
]


def test_commands_that_start_so_come_first() -> None:
    assert [item["name"] for item in matching_commands(COMMANDS, "@mem")] == ["memory", "reset"]
    assert matching_commands(COMMANDS, "forget") == COMMANDS[:1]
    assert matching_commands(COMMANDS, "zzz") == []


def test_conversations_are_found_by_every_word_newest_first() -> None:
    listed = [
        {"id": "1", "title": "The Drowned Bell", "updatedAt": 1},
        {"id": "2", "title": "Bell and candle", "updatedAt": 2},
    ]
    assert [item["id"] for item in matching_conversations(listed, "BELL")] == ["2", "1"]
    assert [item["id"] for item in matching_conversations(listed, "bell drowned")] == ["1"]


def test_the_newest_message_with_most_of_the_words_is_found() -> None:
    said = ["a bell and a rope", "a bell", "nothing"]
    entries = [
        Entry(id=f"e{number}", role="user", content=text, at=0) for number, text in enumerate(said)
    ]
    assert newest_match(entries, "BELL rope") == "e0"
    assert newest_match(entries, "bell") == "e1"
    assert newest_match(entries, "bridge") == ""


def test_an_agent_says_what_it_declares() -> None:
    facts = dict(
        agent_facts(
            {
                "language": "lua",
                "tools": [{"name": "a"}, {"name": "b", "registered": False}],
                "commands": ["roll"],
                "apis": [],
                "preload": True,
                "modelCalls": {"spent": 1200, "reserved": 1030, "refused": 1},
            }
        )
    )
    assert facts == {
        "Model calls": "1,200 tokens spent, 1,030 held for calls under way, 1 call refused",
        "Language": "Lua",
        "Tools": "a, b (taken)",
        "Commands": "@roll",
        "Preload": "yes",
    }


def test_a_logged_call_shows_its_arguments_and_result() -> None:
    line = {"kind": "call", "function": "onLoad", "args": "[]", "result": "x", "milliseconds": 2.4}
    assert log_text(line) == ("onLoad, 2 ms", "arguments: []\nresult: x")
    assert log_text({"kind": "error", "text": "no"}) == ("no", "")


EXPORT = {
    "character": "Wren",
    "conversation": {"title": "A bell", "createdAt": 0},
    "entries": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "", "tool_calls": [{}]},
        {"role": "tool", "content": "6"},
        {"role": "log", "content": "Rolled 6"},
        {"role": "assistant", "content": "A six.", "stopped": True},
        {"role": "assistant", "content": "Seven.", "rejected": True},
    ],
}


def test_a_conversation_as_markdown() -> None:
    text = as_markdown(EXPORT, "Come in.")
    assert text.startswith("# A bell\n")
    order = ["**Wren**\n\nCome in.", "**You**\n\nHello", "> Rolled 6", "A six.\n\n*(stopped)*"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert "Seven." not in text
    assert file_name("Wren", "", "md") == "Wren - conversation.md"


@pytest.mark.parametrize(
    ("name", "media_type", "kind"),
    [
        ("talk.JSON", "application/json", "conversation"),
        ("wren.Zip", "", "package"),
        ("download", "application/zip", "package"),
        ("cat.png", "image/png", "other"),
        ("a-folder", "", "other"),
    ],
)
def test_what_a_file_is_good_for(name: str, media_type: str, kind: str) -> None:
    assert file_kind(name, media_type) == kind


def test_a_file_that_is_not_taken_is_named_with_what_is() -> None:
    assert not_taken("cat.png", "image/png").startswith("Pictures cannot be sent here.")
    assert not_taken("notes.txt", "text/plain").startswith("notes.txt cannot be used here.")


def test_what_is_wrong_with_a_package_is_said_beside_a_conversation() -> None:
    problems = [{"file": "config.json", "line": 3, "message": "no name"}]
    listed = problem_advice(PackageError("bad_package", "No.", problems=problems))
    assert listed.detail == "config.json, line 3: no name"
    plain = problem_advice(PackageError("bad_zip", "This is no zip file. Pack it again."))
    assert plain.title == "This is no zip file."
    assert plain.remedy == "Pack it again. The conversation here goes on."


def test_warnings_of_a_package_name_their_places() -> None:
    warnings = [
        Problem("warning", "agents/a.js", "odd", line=7),
        Problem("warning", "config.json", "old"),
    ]
    advice = warning_advice("Wren", warnings)
    assert advice.title == "2 things in the package of Wren may not work as meant."
    assert advice.detail == "agents/a.js, line 7: odd\nconfig.json: old"
    assert warning_advice("Wren", warnings[:1]).title.startswith("One thing in")


def test_which_lines_of_a_log_are_gone():
    lines = [{"at": number, "text": "x"} for number in range(6)]
    assert lines_gone([], lines) == 0
    assert lines_gone(lines[:4], lines) == 0
    assert lines_gone(lines[:4], lines[2:]) == 2
    assert lines_gone(lines[:3], lines[3:]) == 3
    assert lines_gone(lines, []) == 6
