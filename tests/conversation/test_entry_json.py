from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.conversation.entries import Entry, ToolCall
from personae.conversation.entry_json import entry_from_json, entry_to_json
from personae.conversation.numbers import LAST_MOMENT
from personae.errors import StorageError

unknown = st.none() | st.just({"mood": "blue", "to": None, "effects": [{"type": "x"}]})
calls = st.builds(
    ToolCall,
    id=st.text(),
    name=st.text(),
    arguments=st.text(),
    number=st.none() | st.integers(1, 99),
    granted=st.lists(
        st.builds(
            ToolCall, id=st.text(), name=st.text(), arguments=st.text(), number=st.integers(1, 99)
        ),
        max_size=2,
    ).map(tuple),
    fields=st.none() | st.just({"extra_content": {"sign": "x"}}),
    extra=unknown,
)
entries = st.builds(
    Entry,
    id=st.text(min_size=1),
    role=st.sampled_from(["user", "assistant", "log", "summary"]),
    content=st.text(),
    at=st.integers(0, LAST_MOMENT),
    tool_calls=st.lists(calls, max_size=3).map(tuple),
    reasoning=st.none() | st.text(min_size=1),
    reasoning_fields=st.none() | st.just({"thinking": "x"}),
    tool_call_id=st.none() | st.text(),
    number=st.none() | st.integers(1, 99),
    agent_id=st.none() | st.text(),
    member=st.sampled_from(["m1", "m2"]),
    reply_to=st.none() | st.text(),
    extra=unknown,
    model=st.none() | st.text(min_size=1),
    usage=st.none() | st.just({"total_tokens": 3}),
    source=st.none() | st.text(),
    pictures=st.lists(st.text(), max_size=2).map(tuple),
    stopped=st.booleans(),
    cut=st.sampled_from([None, "length", "filter", "end"]),
    rejected=st.booleans(),
)


@given(entries)
def test_an_entry_survives_its_json_form(entry):
    assert entry_from_json(json.loads(json.dumps(entry_to_json(entry)))) == entry


def test_the_json_form_leaves_defaults_out_and_names_the_contracts_id():
    call = ToolCall("c1", "roll", "{}", 7, granted=(ToolCall("i1", "look", "{}", 8),))
    entry = Entry(id="e1", role="assistant", content="", at=5, tool_calls=(call,))
    assert entry_to_json(entry) == {
        "id": "e1",
        "role": "assistant",
        "content": "",
        "at": 5,
        "tool_calls": [
            {
                "id": "c1",
                "name": "roll",
                "arguments": "{}",
                "toolCallId": 7,
                "granted": [{"id": "i1", "name": "look", "arguments": "{}", "toolCallId": 8}],
            }
        ],
    }


def test_a_failed_tool_result_is_told_from_a_good_one():
    entry = Entry(id="e1", role="tool", content="", at=5, tool_call_id="c1", ok=False)
    assert entry_from_json(entry_to_json(entry)).ok is False
    assert entry_to_json(entry.with_(ok=True))["ok"] is True


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "an object was expected"),
        ({"id": "e", "role": "user", "content": "x"}, "at is missing"),
        ({"id": 3, "role": "user", "content": "x", "at": 1}, "id has the wrong type"),
        ({"id": "e", "role": "narrator", "content": "x", "at": 1}, "role is 'narrator'"),
        ({"id": "e", "role": "user", "content": None, "at": 1}, "content has the wrong type"),
        ({"id": "e", "role": "user", "content": "x", "at": True}, "at has the wrong type"),
        (
            {"id": "e", "role": "assistant", "content": "x", "at": 1, "tool_calls": [{"id": "c"}]},
            "name is missing",
        ),
        (
            {"id": "e", "role": "user", "content": "x", "at": 1, "stopped": "yes"},
            "stopped has the wrong type",
        ),
    ],
)
def test_damage_is_refused_with_the_field(data, reason):
    with pytest.raises(StorageError, match=reason) as caught:
        entry_from_json(data)
    assert caught.value.code == "entry_unreadable"


def test_fields_of_a_newer_version_are_kept():
    call = {"id": "c", "name": "roll", "arguments": "{}", "state": "suspended"}
    data = {"id": "e", "role": "assistant", "content": "x", "at": 1, "tool_calls": [call]}
    data |= {"member": "m2", "replyTo": "d", "audience": ["m1"], "to": None}
    entry = entry_from_json(data)
    assert (entry.member, entry.reply_to) == ("m2", "d")
    assert entry_to_json(entry) == data
    assert entry_to_json(entry.with_(content="y")) == data | {"content": "y"}
