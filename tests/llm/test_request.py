"""Request bodies that every provider takes, whatever the history holds."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.conversation.entries import ToolCall
from personae.llm.request.body import (
    CANCELLED,
    Sampling,
    build_body,
    file_message,
    sendable,
    system_message,
    tool_message,
    user_message,
)
from personae.llm.stream.reply import Reply
from personae.package.model import ToolDefinition

ROLL = ToolDefinition("roll", "Rolls a die", {"type": "object", "properties": {}})


def asks(*ids: str, arguments: str = "{}", text: str = "", name: str = "roll") -> dict[str, Any]:
    made = tuple(ToolCall(id_, name, arguments) for id_ in ids)
    return Reply(text, tool_calls=made).message()


def test_the_whole_body() -> None:
    body = build_body(
        [system_message("Be."), file_message("Context"), user_message("Hi")],
        tools=[ROLL],
        sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=100),
        tool_choice="none",
    )
    assert body == {
        "messages": [
            {"role": "system", "content": "Be."},
            {"role": "user", "content": "Context", "isFile": True},
            {"role": "user", "content": "Hi"},
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "roll",
                    "description": "Rolls a die",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "tool_choice": "none",
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
    }


def test_what_is_not_set_is_not_sent() -> None:
    body = build_body([user_message("Hi")], tool_choice="none", stream=False)
    assert body == {"messages": [{"role": "user", "content": "Hi"}], "stream": False}


def test_calls_keep_their_answers_in_the_order_of_the_calls() -> None:
    messages = [asks("a", "b"), tool_message("b", "2"), tool_message("a", "1"), user_message("x")]
    assert sendable(messages)[1:] == [
        tool_message("call00001", "1"),
        tool_message("call00002", "2"),
        user_message("x"),
    ]


def test_a_missing_answer_is_stubbed_and_orphans_are_dropped() -> None:
    messages = [
        tool_message("z", "orphan"),
        asks("a", "b"),
        tool_message("b", "2"),
        tool_message("q", "orphan"),
        user_message("x"),
        tool_message("a", "too late"),
    ]
    assert sendable(messages)[1:] == [
        tool_message("call00001", CANCELLED),
        tool_message("call00002", "2"),
        user_message("x"),
    ]


def test_ids_become_unique_and_answers_follow_them() -> None:
    messages = [
        asks("a", "a", ""),
        tool_message("a", "1"),
        tool_message("a", "2"),
        tool_message("", "3"),
        asks("a"),
        tool_message("a", "4"),
    ]
    out = sendable(messages)
    called = [made["id"] for message in out for made in message.get("tool_calls", ())]
    answered = [
        (message["tool_call_id"], message["content"])
        for message in out
        if message["role"] == "tool"
    ]
    assert len(set(called)) == 4 and all(called)
    assert answered == list(zip(called, ["1", "2", "3", "4"], strict=True))


@pytest.mark.parametrize(
    ("written", "sent"),
    [("", "{}"), ('{"a":1}', '{"a":1}'), ('{"a":', "{}"), ("{'a':1}", '{"a": 1}'), ("[1]", "{}")],
)
def test_arguments_are_always_an_object(written: str, sent: str) -> None:
    out = sendable([asks("a", arguments=written), tool_message("a", "x")])
    assert out[0]["tool_calls"][0]["function"]["arguments"] == sent


@pytest.mark.parametrize(
    ("made_up", "sent"),
    [
        ("roll", "roll"),
        ("functions.roll dice", "functions_roll_dice"),
        ("x" * 99, "x" * 64),
        ("", "unnamed"),
    ],
)
def test_made_up_tool_names_are_made_sendable(made_up: str, sent: str) -> None:
    out = sendable([asks("a", name=made_up), tool_message("a", "x")])
    assert out[0]["tool_calls"][0]["function"]["name"] == sent


def test_blank_assistant_messages_are_left_out() -> None:
    blank = {"role": "assistant", "content": " \n"}
    assert sendable([user_message("a"), blank, user_message("b")]) == [
        user_message("a"),
        user_message("b"),
    ]


def test_reasoning_goes_back_with_its_tool_round() -> None:
    reply = Reply(
        "",
        reasoning="hm",
        tool_calls=(ToolCall("a", "roll", "{}"),),
        reasoning_fields={"reasoning_content": "hm"},
    )
    assert sendable([reply.message()])[0]["reasoning_content"] == "hm"


def test_strings_are_well_formed() -> None:
    messages = [
        user_message("\ud83c"),
        asks("a\ud83c", arguments='{"x":"\ud83c"}'),
        tool_message("a\ud83c", "\ud83c"),
    ]
    body = build_body(messages, tools=[ToolDefinition("t", "\ud83c", {"description": "\udf19"})])
    json.dumps(body, ensure_ascii=False).encode()


MESSAGES = st.lists(
    st.builds(user_message, st.text(max_size=3))
    | st.builds(tool_message, st.sampled_from("abc"), st.text(max_size=3))
    | st.builds(
        lambda ids: asks(*ids, arguments="{"),
        st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
    )
    | st.builds(lambda text: {"role": "assistant", "content": text}, st.text(max_size=3)),
    max_size=8,
)


@given(MESSAGES)
def test_every_call_has_its_answer_right_after_it(messages: list[dict[str, Any]]) -> None:
    waiting: list[str] = []
    seen: set[str] = set()
    for message in sendable(messages):
        if message["role"] == "tool":
            assert message["tool_call_id"] == waiting.pop(0)
            continue
        assert not waiting
        waiting = [made["id"] for made in message.get("tool_calls", ())]
        assert not seen.intersection(waiting) and len(set(waiting)) == len(waiting)
        seen.update(waiting)
    assert not waiting


@given(MESSAGES)
def test_settling_twice_changes_nothing(messages: list[dict[str, Any]]) -> None:
    once = sendable(messages)
    assert sendable(once) == once
