from __future__ import annotations

from personae.conversation.repair import open_calls

from tests.conversation.support import ROUND, talk


def test_a_call_without_a_result_in_the_current_turn_is_found():
    entries = talk(("user", "u"), ("assistant", "", [1, 2]), ("tool", "r", 1), ("log", "l"))
    assert [(entry.id, call.number) for entry, call in open_calls(entries)] == [("e0000000002", 2)]


def test_earlier_turns_are_left_alone_for_they_are_not_sent():
    assert open_calls(talk(("user", "u"), ("assistant", "", [1]), ("user", "v"))) == []


def test_a_complete_conversation_has_none():
    assert open_calls(talk(("user", "u"), *ROUND)) == []
    assert open_calls([]) == []
