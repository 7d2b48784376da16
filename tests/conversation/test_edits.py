"""User edits: what goes, what stays, and which toolCallIds agents hear of."""

from __future__ import annotations

import pytest
from personae.conversation import edits
from personae.conversation.entries import ToolCall, entry_id
from personae.conversation.forks import fork
from personae.errors import UsageError

from tests.conversation.support import ROUND, lost_numbers, talk, texts

# u1 [call 1, log, result 1, four] u2 [call 2, result 2, five]
TWO = talk(
    ("user", "u1"),
    *ROUND,
    ("user", "u2"),
    ("assistant", "", [2, 3]),
    ("tool", "r2", 2),
    ("tool", "r3", 3),
    ("assistant", "five"),
)


@pytest.mark.parametrize(
    ("at", "left", "deleted", "viable"),
    [
        (1, ["u1"], (1, 2, 3), 0),
        (2, ["u1", "let me", "audit", "4"], (2, 3), 1),
        (3, ["u1", "let me", "audit", "4"], (2, 3), 1),
        (4, ["u1", "let me", "audit", "4"], (2, 3), 1),
        (5, ["u1", "let me", "audit", "4", "four"], (2, 3), 1),
        (8, texts(TWO)[:9], (), 3),
        (10, texts(TWO), (), 3),
    ],
)
def test_truncate_keeps_the_entry_and_the_results_of_its_calls(at, left, deleted, viable):
    edit = edits.truncate(TWO, entry_id(at))
    assert texts(edit.entries) == left
    assert lost_numbers(edit) == deleted
    assert edit.last_viable == viable
    assert texts(edit.removed) == texts(TWO)[len(left) :]


@pytest.mark.parametrize(
    ("at", "gone", "deleted"),
    [
        (1, ["u1"], ()),
        (3, ["audit"], ()),
        (2, ["let me", "4", "four"], (1,)),
        (4, ["let me", "4", "four"], (1,)),
        (5, ["let me", "4", "four"], (1,)),
        (10, ["", "r2", "r3", "five"], (2, 3)),
    ],
)
def test_delete_takes_a_message_or_a_whole_response_and_leaves_logs(at, gone, deleted):
    edit = edits.delete(TWO, entry_id(at))
    assert texts(edit.removed) == gone
    assert lost_numbers(edit) == deleted


def test_reject_marks_the_whole_response_and_counts_as_removed():
    edit = edits.reject(TWO, entry_id(10))
    assert [entry.rejected for entry in edit.entries] == [False] * 6 + [True] * 4
    assert (lost_numbers(edit), edit.last_viable, edit.removed) == ((2, 3), 1, ())


def test_a_rejected_responses_ids_are_not_reported_again():
    rejected = edits.reject(TWO, entry_id(10)).entries
    assert lost_numbers(edits.delete(rejected, entry_id(10))) == ()
    assert lost_numbers(edits.truncate(rejected, entry_id(1))) == (1,)
    assert lost_numbers(edits.clear(rejected)) == (1,)
    assert edits.reject(rejected, entry_id(10)).changed == ()
    assert lost_numbers(fork(rejected, entry_id(1))) == (1,)


def test_only_a_response_can_be_rejected():
    with pytest.raises(UsageError) as caught:
        edits.reject(TWO, entry_id(1))
    assert caught.value.code == "not_a_response"


def test_save_changes_text_only():
    edit = edits.change_text(TWO, entry_id(5), "4!")
    assert texts(edit.changed) == ["4!"]
    assert (edit.removed, lost_numbers(edit), edit.last_viable) == ((), (), 3)
    with pytest.raises(UsageError, match="Only messages"):
        edits.change_text(TWO, entry_id(3), "x")


def test_resubmit_removes_what_follows_and_takes_a_new_text():
    edit = edits.resubmit(TWO, entry_id(6), "other")
    assert texts(edit.entries) == ["u1", "let me", "audit", "4", "four", "other"]
    assert lost_numbers(edit) == (2, 3)
    assert edits.resubmit(TWO, entry_id(6)).changed == ()
    with pytest.raises(UsageError, match="Only a user message"):
        edits.resubmit(TWO, entry_id(5))


def test_regenerate_removes_the_last_response_and_keeps_logs_and_rejected_ones():
    once = edits.reject(TWO, entry_id(10)).entries
    more = [*once, *talk(*[("log", "-")] * 10, ("assistant", "six", [4]), ("tool", "r4", 4))[10:]]
    edit = edits.regenerate(more)
    assert texts(edit.removed) == ["six", "r4"]
    assert lost_numbers(edit) == (4,)
    assert texts(edit.entries) == texts(TWO)
    with pytest.raises(UsageError, match="no user message"):
        edits.regenerate(talk(("log", "x")))


def test_clear_removes_everything():
    edit = edits.clear(TWO)
    assert (edit.entries, lost_numbers(edit), edit.last_viable) == ((), (1, 2, 3), 0)


def test_granted_calls_of_a_sub_agent_leave_with_the_call_they_belong_to():
    entries = talk(("user", "u"), ("assistant", "", [1]), ("tool", "r", 1), ("assistant", "a"))
    call = ToolCall("c1", "ask", "{}", 1, granted=(ToolCall("i", "look", "{}", 2),))
    entries[1] = entries[1].with_(tool_calls=(call,))
    assert lost_numbers(edits.regenerate(entries)) == (1, 2)
    assert edits.change_text(entries, entry_id(1), "x").last_viable == 2


def test_the_numbers_that_left_are_told_by_member():
    entries = [
        entry.with_(member=member)
        for entry, member in zip(TWO, [None, *["m1"] * 4, None, *["m2"] * 4], strict=True)
    ]
    assert edits.truncate(entries, entry_id(1)).lost == {"m1": (1,), "m2": (2, 3)}
    assert edits.delete(entries, entry_id(10)).lost == {"m2": (2, 3)}
    assert edits.reject(entries, entry_id(5)).lost == {"m1": (1,)}
    assert edits.truncate(entries, entry_id(10)).lost == {}


def test_a_summary_is_no_part_of_the_responses_beside_it():
    entries = talk(
        ("user", "u"),
        ("assistant", "", [1]),
        ("tool", "r", 1),
        ("summary", "s"),
        ("assistant", "a"),
    )
    assert texts(edits.delete(entries, entry_id(5)).removed) == ["", "r", "a"]
    assert texts(edits.delete(entries, entry_id(4)).removed) == ["s"]
    assert texts(edits.regenerate(entries).entries) == ["u", "s"]
    with pytest.raises(UsageError, match="Only a response"):
        edits.reject(entries, entry_id(4))


def test_an_unknown_entry_is_named():
    with pytest.raises(UsageError, match="e77") as caught:
        edits.truncate(TWO, "e77")
    assert caught.value.code == "unknown_entry"


def test_a_log_at_the_end_of_a_response_is_a_point_of_its_own():
    entries = talk(("user", "u"), *ROUND[:3], ("log", "late"), ("assistant", "end"))
    assert texts(edits.truncate(entries, entry_id(5)).entries)[-1] == "late"
    assert texts(edits.truncate(entries, entry_id(2)).entries)[-1] == "4"


def test_an_orphaned_result_at_the_start_can_be_cut_behind():
    entries = talk(("tool", "lost", 9), ("user", "u"))
    assert texts(edits.truncate(entries, entry_id(1)).entries) == ["lost"]
