"""What a provider wants back: kept as it came, merged, and sent to nobody else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from personae.llm.request.body import build_body, tool_message, user_message
from personae.llm.stream.reply import Reply
from personae.llm.stream.response_body import ReplyBody

from tests.llm.fakes import chunk, sse


def read(*deltas: dict[str, Any], finish: str = "tool_calls") -> Reply:
    body = ReplyBody("https://here.example", 200)
    list(body.feed(sse(*map(chunk, deltas), chunk(finish=finish))))
    *_, reply = body.finish()
    assert isinstance(reply, Reply)
    return reply


def whole(message: dict[str, Any]) -> Reply:
    body = ReplyBody("https://here.example", 200)
    text = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    list(body.feed(text.encode()))
    *_, reply = body.finish()
    assert isinstance(reply, Reply)
    return reply


def sent(reply: Reply) -> dict[str, Any]:
    """The assistant message of the next request."""
    results = [tool_message(call.id, "done") for call in reply.tool_calls]
    body = build_body([user_message("Hi"), reply.message(), *results])
    message: dict[str, Any] = body["messages"][1]
    return message


def call(**more: Any) -> dict[str, Any]:
    function = {"name": "roll", "arguments": "{}"} | more.pop("function", {})
    return {"index": 0, "id": "call-1", "type": "function", "function": function, **more}


SIGN = {"google": {"thought_signature": "AAA"}}


@pytest.mark.parametrize(
    ("deltas", "kept"),
    [
        ([{"tool_calls": [call(extra_content=SIGN)]}], {"extra_content": SIGN}),
        (
            [{"tool_calls": [call()]}, {"tool_calls": [{"index": 0, "extra_content": SIGN}]}],
            {"extra_content": SIGN},
        ),
        (
            [{"tool_calls": [call(provider_specific_fields={"thought_signature": "B"})]}],
            {"provider_specific_fields": {"thought_signature": "B"}},
        ),
        (
            [{"tool_calls": [call(cache_control={"type": "ephemeral"})]}],
            {"cache_control": {"type": "ephemeral"}},
        ),
        ([{"tool_calls": [call(extra_content=None, logprobs=[1], other="")]}], {}),
    ],
)
def test_unknown_fields_of_a_call_go_back(deltas: list[Any], kept: dict[str, Any]) -> None:
    (made,) = sent(read(*deltas))["tool_calls"]
    function = {"name": "roll", "arguments": "{}"}
    assert made == {"id": "call00001", "type": "function", "function": function, **kept}


def test_unknown_fields_of_a_calls_function_go_back_too() -> None:
    reply = read({"tool_calls": [call(function={"thought_signature": "C"})]})
    function = {"name": "roll", "arguments": "{}", "thought_signature": "C"}
    assert sent(reply)["tool_calls"][0]["function"] == function


def test_each_call_has_its_own() -> None:
    second = {**call(extra_content={"n": 2}), "index": 1, "id": "call-2"}
    reply = read({"tool_calls": [call(extra_content={"n": 1}), second]})
    assert [made["extra_content"]["n"] for made in sent(reply)["tool_calls"]] == [1, 2]


def test_a_whole_message_keeps_them_as_a_streamed_one_does() -> None:
    reply = whole({"content": None, "tool_calls": [call(extra_content=SIGN)], "mark": {"a": 1}})
    assert sent(reply)["tool_calls"][0]["extra_content"] == SIGN
    assert sent(reply)["mark"] == {"a": 1}


def test_thinking_blocks_are_merged_up_to_their_signatures() -> None:
    def block(**more: Any) -> dict[str, Any]:
        blocks = [{"type": "thinking", "index": 0, **more}]
        twin = {"thinking_blocks": blocks}
        return {"thinking_blocks": blocks, "provider_specific_fields": twin}

    reply = read(
        {**block(thinking="I "), "reasoning_content": "I "},
        {**block(thinking="see."), "reasoning_content": "see."},
        block(thinking="", signature="S1"),
        block(thinking="More."),
        block(thinking="", signature="S2"),
        {"thinking_blocks": [{"type": "redacted_thinking", "data": "D"}]},
        {"tool_calls": [call()]},
    )
    assert reply.reasoning == "I see.More."
    message = sent(reply)
    assert message["thinking_blocks"] == [
        {"type": "thinking", "thinking": "I see.", "signature": "S1"},
        {"type": "thinking", "thinking": "More.", "signature": "S2"},
        {"type": "redacted_thinking", "data": "D"},
    ]
    assert "provider_specific_fields" not in message


def test_a_field_that_names_a_call_names_it_by_the_id_that_is_sent() -> None:
    detail = {"type": "reasoning.encrypted", "id": "call-1", "data": "x", "index": 0}
    reply = read({"reasoning_details": [detail]}, {"tool_calls": [call()]})
    assert sent(reply)["reasoning_details"] == [{**detail, "id": "call00001"}]


@pytest.mark.parametrize("name", ["refusal", "annotations", "audio", "logprobs", "token_ids"])
def test_reports_are_not_sent_back(name: str) -> None:
    reply = read({name: [{"x": 1}] if name != "refusal" else None}, {"tool_calls": [call()]})
    assert name not in sent(reply)
