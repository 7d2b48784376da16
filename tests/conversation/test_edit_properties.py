"""What holds for every edit of every conversation."""

from __future__ import annotations

import contextlib
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st
from personae.conversation import edits
from personae.conversation.call_numbers import highest, last_viable, numbers
from personae.conversation.entries import Entry, ToolCall, entry_id
from personae.conversation.forks import fork
from personae.conversation.repair import open_calls
from personae.errors import UsageError

from tests.conversation.support import lost_numbers

# A response: how many calls each of its rounds makes, whether logs lie between, whether rejected.
responses = st.tuples(
    st.lists(st.integers(0, 3), min_size=1, max_size=3), st.booleans(), st.booleans()
)
turns = st.lists(st.lists(responses, max_size=2), max_size=4)
few = settings(max_examples=40, deadline=None)


def build(shape: list[list[tuple[list[int], bool, bool]]]) -> list[Entry]:
    ids, calls, entries = count(1), count(1), []

    def add(role, content, **fields):
        entries.append(Entry(id=entry_id(next(ids)), role=role, content=content, at=0, **fields))

    for turn in shape:
        add("user", "said")
        for rounds, logs, rejected in turn:
            for made in rounds:
                round_calls = tuple(ToolCall(f"c{n}", "t", "{}", n) for n in _take(calls, made))
                add("assistant", "text", tool_calls=round_calls, rejected=rejected)
                for call in round_calls:
                    if logs:
                        add("log", "audit")
                    add("tool", "r", tool_call_id=call.id, number=call.number, rejected=rejected)
    return entries


def _take(calls, made):
    return [next(calls) for _ in range(made)]


def every_edit(entries: list[Entry]):
    for entry in entries:
        for edit in (edits.truncate, edits.delete, edits.reject, edits.resubmit, fork):
            try:
                yield edit(entries, entry.id)
            except UsageError:
                continue
    with contextlib.suppress(UsageError):
        yield edits.regenerate(entries)
    yield edits.clear(entries)


@given(turns)
@few
def test_an_edit_keeps_order_and_loses_nothing_unnamed(shape):
    entries = build(shape)
    for edit in every_edit(entries):
        ids = [entry.id for entry in edit.entries]
        assert ids == sorted(ids)
        assert sorted(ids + [entry.id for entry in edit.removed]) == [e.id for e in entries]


@given(turns)
@few
def test_no_edit_leaves_a_result_without_its_call_or_a_call_without_its_result(shape):
    entries = build(shape)
    for edit in every_edit(entries):
        asked = {(c.id, e.rejected) for e in edit.entries for c in e.tool_calls}
        answered = {(e.tool_call_id, e.rejected) for e in edit.entries if e.role == "tool"}
        assert asked == answered
        assert open_calls(edit.entries) == []


@given(turns)
@few
def test_reported_ids_are_exactly_those_that_left_the_history_ascending(shape):
    entries = build(shape)
    for edit in every_edit(entries):
        assert list(lost_numbers(edit)) == sorted(numbers(entries) - numbers(edit.entries))
        assert edit.last_viable == last_viable(edit.entries)
        assert not set(lost_numbers(edit)) & numbers(edit.entries)


@given(turns, st.lists(st.integers(0, 1000), min_size=2, max_size=4))
@few
def test_no_id_is_reported_twice_whatever_edits_follow_each_other(shape, choices):
    entries, reported = build(shape), []
    for choice in choices:
        possible = list(every_edit(entries))
        edit = possible[choice % len(possible)]
        reported += lost_numbers(edit)
        entries = list(edit.entries)
    assert len(reported) == len(set(reported))


@given(turns)
@few
def test_a_fork_is_a_beginning_of_its_source(shape):
    entries = build(shape)
    for entry in entries:
        copied = fork(entries, entry.id).entries
        assert list(copied) == entries[: len(copied)]
        assert entry in copied
        assert highest(copied) <= highest(entries)
