"""A conversation's own record, and what a copy of the conversation takes over."""

from __future__ import annotations

from typing import Any

import pytest
from personae.conversation.edits import clear
from personae.conversation.entries import Entry, ToolCall
from personae.errors import StorageError
from personae.storage.head import Head, PendingEdit, head_from_json, head_to_json
from personae.storage.journal import Journal
from personae.storage.recency import Recency
from personae.storage.saver import Saver

from tests.fakes import FakeClock, FakeNotifier, FakeStorage

STORED: dict[str, Any] = {
    "id": "c",
    "characterId": "p",
    "title": "Hello",
    "named": True,
    "createdAt": 1,
    "updatedAt": 2,
    "nextEntry": 3,
    "lastToolCallId": 4,
    "tokensSpent": 5,
    "edit": {"deletedToolCallIds": [3, 4], "lastViableToolCallId": 2, "agents": ["a"]},
}
NEWER = {
    "members": [{"id": "m1"}, {"id": "m2"}],
    "nextMember": 3,
    "spent": {"m2": {"in": 1}},
    "scene": None,
}


def test_a_head_of_one_character_is_written_as_it_always_was() -> None:
    assert head_to_json(head_from_json(STORED)) == STORED
    plain = {name: value for name, value in STORED.items() if name != "edit"}
    assert list(head_to_json(head_from_json(plain))) == list(plain)


def test_a_successor_has_a_name_and_times_of_its_own_and_all_the_rest() -> None:
    head = head_from_json(STORED | NEWER)
    copy = head.successor("d", "q", 9, title="Hello (fork)")
    own = {"id": "d", "characterId": "q", "createdAt": 9, "updatedAt": 9, "title": "Hello (fork)"}
    assert head_to_json(copy) == STORED | NEWER | own


def test_nothing_that_happens_to_a_successor_reaches_the_head() -> None:
    head = head_from_json(STORED | NEWER)
    copy = head.successor("d", "q", 9)
    assert copy.edit is not None
    copy.edit.lose({"m1": [7], "m2": [8]})
    copy.edit.agents.clear()
    copy.extra["members"].clear()
    assert head_to_json(head) == STORED | NEWER


def test_a_pending_edit_knows_whose_numbers_were_lost() -> None:
    head = Head("c", "p", 1, 2, edit=PendingEdit({"m1": [4]}, 2, ["a", "m2:b", "room:c"]))
    assert head.edit is not None
    head.edit.lose({"m2": [6, 5], "m1": [3]})
    found = head_from_json(head_to_json(head)).edit
    assert found == head.edit
    assert found is not None
    lost = {scope: found.lost_to(scope) for scope in ("m1", "m2", "m3", "room")}
    assert lost == {"m1": [3, 4], "m2": [5, 6], "m3": [], "room": [3, 4, 5, 6]}


@pytest.mark.parametrize(
    "damage", [{"edit": [1]}, {"edit": {"agents": []}}, {"createdAt": "soon"}, {"id": None}]
)
def test_a_damaged_head_is_refused(damage: dict[str, Any]) -> None:
    data = STORED | damage
    if data["id"] is None:
        del data["id"]
    with pytest.raises(StorageError) as caught:
        head_from_json(data)
    assert caught.value.code == "conversation_unreadable"


def test_an_edit_is_told_to_the_agents_whose_scope_lost_numbers() -> None:
    clock, call = FakeClock(), ToolCall("c", "roll", "{}", 4)
    saver = Saver(FakeStorage(), clock, FakeNotifier())

    def heard(kind: str, **facts: Any) -> None: ...

    said = Entry(id="e1", role="assistant", content="", at=0, member="m2", tool_calls=(call,))
    journal = Journal(Head("c", "p", 1, 2), [said], {}, saver, clock, Recency(clock), heard)
    journal.apply(clear(journal.entries), ["a", "m2:b", "m3:b", "room:c"])
    assert journal.head.edit == PendingEdit({"m2": [4]}, 0, ["m2:b", "room:c"])
    journal.edit_told("m2:b")
    journal.edit_told("room:c")
    assert journal.head.edit is None
