"""Conversations and backups that a stranger wrote: what they hold cannot break what reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from personae.conversation.entry_json import entry_from_json
from personae.errors import StorageError, UsageError
from personae.package.steps import run
from personae.player.views import conversation_list
from personae.storage.activity_log import ActivityLog
from personae.storage.head import head_from_json
from personae.storage.transfer.conversation_file import import_conversation
from personae.storage.transfer.lines import BadLine, read_line
from personae.turn.request.perspective import message
from personae.ui import formats

HUGE = [10**15, 10**400, -1, -(10**15), 1e300, float("inf"), float("nan")]
HEAD = {"id": "c", "characterId": "p", "createdAt": 1, "updatedAt": 1}
ENTRY = {"id": "e0000000001", "role": "assistant", "content": "x", "at": 1}


@pytest.mark.parametrize("field", ["createdAt", "updatedAt"])
@pytest.mark.parametrize("at", HUGE)
def test_a_time_that_no_calendar_has_makes_no_head(field: str, at: float) -> None:
    with pytest.raises(StorageError):
        head_from_json({**HEAD, field: at})


@pytest.mark.parametrize("field", ["nextEntry", "lastToolCallId", "tokensSpent"])
def test_a_count_that_cannot_be_counted_to_makes_no_head(field: str) -> None:
    with pytest.raises(StorageError):
        head_from_json({**HEAD, field: 10**400})


@pytest.mark.parametrize("at", HUGE)
def test_a_time_that_no_calendar_has_makes_no_entry(at: float) -> None:
    with pytest.raises(StorageError):
        entry_from_json({**ENTRY, "at": at})


@pytest.mark.parametrize("at", [0, 1.5, 2**47])
def test_every_time_that_is_taken_can_be_shown(at: float) -> None:
    taken = entry_from_json({**ENTRY, "at": at}).at
    shown = formats.moment(taken), formats.short_time(taken, 1), formats.day_group(taken, 1)
    assert all(shown)


def test_an_import_with_such_a_time_is_refused() -> None:
    file = {"format": "personae-conversation", "version": 1, "conversation": HEAD}
    with pytest.raises(UsageError, match="out of all bounds"):
        run(import_conversation({**file, "entries": [{**ENTRY, "at": 1e300}]}))


def test_a_key_with_a_number_that_no_database_takes_is_a_bad_line() -> None:
    line = json.dumps({"key": ["c", "agent", 10**400], "value": "{}"}).encode()
    with pytest.raises(BadLine):
        run(read_line(line, (0, len(line))))


class Logs:
    """The part of a journal that a log is read from."""

    def __init__(self, *values: Any) -> None:
        self.logs = {("a", at): json.dumps(value) for at, value in enumerate(values)}


def test_lines_of_a_log_that_are_none_are_left_out() -> None:
    good = {"at": 1, "kind": "console", "text": "hello", "of a newer version": 1}
    odd = [5, [], {}, {**good, "at": "now"}, {**good, "at": 10**400}, {**good, "text": None},
           {**good, "kind": "call", "milliseconds": "x"}]  # fmt: skip
    journal: Any = Logs(*odd, good)
    clock: Any = None
    assert ActivityLog(journal, clock, lambda change: None).lines("a") == [good]


def test_a_title_is_one_plain_line() -> None:
    head = head_from_json({**HEAD, "title": "\u202eold\n\n" + "x" * 9_000})
    [listed] = conversation_list([head], head)
    assert listed["title"].startswith("old x")
    assert len(listed["title"]) == 200


def test_stored_reasoning_says_nothing_else_in_a_request() -> None:
    fields = {
        "role": "system",
        "content": [{"type": "image_url", "image_url": {"url": "https://evil.example/"}}],
        "cache_control": {"type": "ephemeral"},
        "reasoning": "because",
        "reasoning_content": 5,
        "reasoning_details": [{"type": "reasoning.text", "text": "because"}],
    }
    call = {"id": "c1", "name": "t", "arguments": "{}"}
    entry = entry_from_json({**ENTRY, "tool_calls": [call], "reasoningFields": fields})
    sent = message(entry, "here")
    assert sent is not None
    assert (sent["role"], sent["content"]) == ("assistant", "x")
    assert sent.keys() - {"role", "content", "tool_calls"} == {"reasoning", "reasoning_details"}
