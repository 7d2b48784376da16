"""The page's end of the channel: every declared message, and every way to break the rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from personae.protocol import limit, protocol
from personae.sandbox.channel import Channel, ProtocolViolation

from tests.fakes import posted

# One legal example of each message, with the state it is tried in; what a body holds is in "body".
ROWS: list[tuple[str, str, dict[str, Any], str]] = [
    ("booting", "ready", {}, "ready"),
    (
        "ready",
        "load",
        {
            "agentId": "a",
            "filename": "agents/a.js",
            "source": "",
            "libraries": [],
            "functions": ["onLoad"],
            "handlers": [],
        },
        "loading",
    ),
    ("loading", "loaded", {"functions": [], "handlers": []}, "idle"),
    ("loading", "failed", {"kind": "load", "message": "m", "stack": None}, "closed"),
    ("booting", "failed", {"kind": "load", "message": "m"}, "closed"),
    (
        "idle",
        "call",
        {"call": 1, "function": "onLoad", "verbatim": False, "body": [{"agentId": "a"}]},
        "calling",
    ),
    ("calling", "result", {"call": 1, "value": None}, "idle"),
    ("calling", "error", {"call": 1, "kind": "threw", "message": "m"}, "idle"),
    (
        "calling",
        "request",
        {"call": 1, "request": 1, "method": "history.search", "arguments": ["x"]},
        "calling",
    ),
    ("calling", "reply", {"request": 1, "body": None}, "calling"),
    ("calling", "refusal", {"request": 1, "code": "c", "message": "m"}, "calling"),
    ("idle", "notice", {"kind": "log", "text": "t"}, "idle"),
    ("calling", "notice", {"kind": "dropped", "text": "", "dropped": 3}, "calling"),
    ("idle", "crashed", {"message": "m"}, "closed"),
]


def channel_in(state: str) -> Channel:
    channel = Channel()
    channel.state = state
    return channel


def sender_of(type_: str) -> str:
    sender: str = protocol()["channel"][type_]["from"]
    return sender


def carry(channel: Channel, type_: str, fields: dict[str, Any]) -> None:
    if sender_of(type_) == "page":
        sent = {
            name: json.dumps(value) if name == "body" else value for name, value in fields.items()
        }
        assert posted(channel.outgoing(type_, **sent)) == {"type": type_, **fields}
    else:
        message = channel.incoming(json.dumps({"type": type_, **fields}), None)
        assert (message.type, message.fields) == (type_, fields)


@pytest.mark.parametrize(("state", "type_", "fields", "then"), ROWS)
def test_each_message_is_legal_where_it_is_declared(
    state: str, type_: str, fields: dict[str, Any], then: str
) -> None:
    channel = channel_in(state)
    carry(channel, type_, fields)
    assert channel.state == then


def test_every_declared_message_has_a_row() -> None:
    assert {row[1] for row in ROWS} == set(protocol()["channel"])


@pytest.mark.parametrize(("state", "type_", "fields", "then"), ROWS)
def test_a_message_is_illegal_in_every_other_state(
    state: str, type_: str, fields: dict[str, Any], then: str
) -> None:
    legal = protocol()["channel"][type_]["in"]
    for other in {"booting", "ready", "loading", "idle", "calling", "closed"} - set(legal):
        with pytest.raises((ProtocolViolation, AssertionError)):
            carry(channel_in(other), type_, fields)


@pytest.mark.parametrize(("state", "type_", "fields", "then"), ROWS)
def test_each_field_is_needed_and_a_strangers_are_typed(
    state: str, type_: str, fields: dict[str, Any], then: str
) -> None:
    declared = protocol()["channel"][type_]
    body = {"body": declared["body"]} if "body" in declared else {}
    for name, kind in {**declared["fields"], **body}.items():
        without = {key: value for key, value in fields.items() if key != name}
        if not kind.endswith("?"):
            with pytest.raises((ProtocolViolation, AssertionError)):
                carry(channel_in(state), type_, without)
        if sender_of(type_) == "worker":
            with pytest.raises((ProtocolViolation, AssertionError)):
                carry(channel_in(state), type_, {**fields, name: 1.5})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("[]", "no object"),
        ("nonsense", "no JSON"),
        ('{"type": "notice", "kind": "log", "text": NaN}', "no JSON"),
        ("[" * 200_000, "too deeply"),
        ("[" * 900, "no JSON"),
        ("{}", "never sends"),
        ('{"type": []}', "never sends"),
        ('{"type": "made-up"}', "never sends"),
        ('{"type": "call"}', "never sends"),
        ('{"type": "reply", "request": 1, "value": 1}', "never sends"),
        ('{"type": "result", "call": true, "value": null}', "no integer"),
        ('{"type": "result", "call": 1, "value": "x", "extra": 1}', "unknown field"),
    ],
)
def test_forged_texts_are_refused(text: str, why: str) -> None:
    channel = channel_in("calling")
    with pytest.raises(ProtocolViolation, match=why):
        channel.incoming(text, None)
    assert channel.state == "closed"


@pytest.mark.parametrize(
    ("store", "why"),
    [
        ("[1]", "no object"),
        ("", "no object"),
        ("{" + " " * limit("valueCharacters") + "}", "characters"),
    ],
)
def test_an_unusable_store_is_refused(store: str, why: str) -> None:
    with pytest.raises(ProtocolViolation, match=why):
        channel_in("calling").incoming('{"type": "result", "call": 1}', store)


def test_only_messages_that_carry_stores_may_have_one() -> None:
    with pytest.raises(ProtocolViolation, match="with a store"):
        channel_in("calling").incoming('{"type": "notice", "kind": "log", "text": ""}', "{}")


def test_an_oversized_message_is_refused_unread() -> None:
    with pytest.raises(ProtocolViolation, match="characters"):
        channel_in("calling").incoming(" " * (limit("messageCharacters") + 1), None)


def test_more_notices_than_an_honest_worker_sends_are_a_flood() -> None:
    channel = channel_in("calling")
    notice = '{"type": "notice", "kind": "log", "text": ""}'
    for _ in range(limit("noticesPerCall") + 1):
        channel.incoming(notice, None)
    with pytest.raises(ProtocolViolation, match="flood"):
        channel.incoming(notice, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=5,
)
TYPES = st.sampled_from(sorted(protocol()["channel"]))


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine draws slowly
@given(st.dictionaries(st.sampled_from(["call", "value", "kind", "text", "x"]), JSON), TYPES)
def test_whatever_arrives_is_a_message_or_a_violation(fields: Any, type_: str) -> None:
    channel = channel_in("calling")
    try:
        channel.incoming(json.dumps({**fields, "type": type_}), None)
    except ProtocolViolation:
        assert channel.state == "closed"
    else:
        assert sender_of(type_) == "worker"


def test_a_body_is_passed_on_as_it_is() -> None:
    body = '{"a" : 1.50,\n"b":"\\ud800"}'
    line, _, rest = channel_in("calling").outgoing("reply", body, request=1).partition("\n")
    assert (json.loads(line), rest) == ({"type": "reply", "request": 1}, body)
