"""Refusals that name what was wrong are learnt from, once, and remembered where they belong."""

from __future__ import annotations

from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.provider import quirks
from personae.llm.provider.client import ChatClient
from personae.llm.request.body import (
    Sampling,
    build_body,
    file_message,
    system_message,
    tool_message,
    user_message,
)
from personae.llm.stream.reply import Reply
from personae.package.model import ToolDefinition

from tests.llm.fakes import FakeResponse, FakeTransport, InstantClock, endpoint_of, refused, said

ASKING = {
    "role": "assistant",
    "content": "",
    "reasoning_content": "hm",
    "tool_calls": [{"id": "a", "function": {"name": "roll", "arguments": "{}"}}],
}
BODY = build_body(
    [
        system_message("Be."),
        file_message("Context"),
        user_message("Hi"),
        ASKING,
        tool_message("a", "6"),
    ],
    tools=[ToolDefinition("roll", "", {"type": "object"})],
    sampling=Sampling(0.7, 0.9, 100),
    tool_choice="auto",
)
HERE = endpoint_of("https://here.example/v1/", "", "m")


async def sent_after(
    refusal: FakeResponse, *more: FakeResponse, body: Any = BODY, memory: Any = None
) -> list[dict[str, Any]]:
    """The bodies that went out: the refused one, and what followed."""
    transport = FakeTransport(refusal, *more, said("ok"))
    client = ChatClient(transport, InstantClock(), memory)
    assert (await client.complete(HERE, body)).text == "ok"
    return transport.bodies


@pytest.mark.parametrize(
    ("message", "gone"),
    [
        ("Unrecognized request argument supplied: isFile", "isFile"),
        ("messages.1.isFile: Extra inputs are not permitted", "isFile"),
        ("property 'isFile' is unsupported", "isFile"),
        ("messages.3: property 'reasoning_content' is unsupported", "reasoning_content"),
    ],
)
async def test_message_fields_are_dropped(message: str, gone: str) -> None:
    first, second = await sent_after(refused(400, message))
    assert any(gone in item for item in first["messages"])
    assert not any(gone in item for item in second["messages"])
    assert [item["role"] for item in first["messages"]] == [
        item["role"] for item in second["messages"]
    ]


@pytest.mark.parametrize(
    ("status", "message", "gone"),
    [
        (400, "Unknown parameter: 'tool_choice'.", "tool_choice"),
        (422, "body.top_p: Extra inputs are not permitted", "top_p"),
        (400, "temperature and top_p cannot both be specified for this model", "top_p"),
        (
            400,
            "Unsupported value: 'temperature' does not support 0.7 with this model. "
            "Only the default (1) value is supported.",
            "temperature",
        ),
    ],
)
async def test_parameters_are_dropped(status: int, message: str, gone: str) -> None:
    first, second = await sent_after(refused(status, message))
    assert first.keys() - second.keys() == {gone}


async def test_stream_options_are_dropped() -> None:
    transport = FakeTransport(refused(400, "unexpected keyword 'stream_options'"), said("ok"))
    events = [event async for event in ChatClient(transport, InstantClock()).stream(HERE, BODY)]
    assert isinstance(events[-1], Reply)
    assert "stream_options" not in transport.bodies[1]


async def test_the_parameter_may_be_named_apart_from_the_message() -> None:
    refusal = refused(400, "Unsupported parameter", param="top_p")
    assert "top_p" not in (await sent_after(refusal))[1]


async def test_the_token_limit_is_renamed() -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    second = (await sent_after(refused(400, message)))[1]
    assert (second.get("max_tokens"), second["max_completion_tokens"]) == (None, 100)


async def test_the_token_limit_is_renamed_back() -> None:
    memory = {"https://here.example/v1 m": ["rename:max_tokens"]}
    first, second = await sent_after(
        refused(400, "Unknown parameter: max_completion_tokens"), memory=memory
    )
    assert (first["max_completion_tokens"], second["max_tokens"]) == (100, 100)
    assert memory == {"https://here.example/v1 m": []}


@pytest.mark.parametrize(
    "message",
    [
        "Invalid type for 'messages[3].content': expected a string, got null instead.",
        "content is required",
        "messages.3.content: Input should be a valid string, not None",
    ],
)
async def test_a_message_of_calls_alone_has_null_content_or_else_an_empty_one(message: str) -> None:
    first, second = await sent_after(refused(400, message))
    assert (first["messages"][3]["content"], second["messages"][3]["content"]) == (None, "")


async def test_the_other_way_round() -> None:
    memory = {"https://here.example/v1": ["content:empty"]}
    first, second = await sent_after(
        refused(400, "messages: text content blocks must be non-empty"), memory=memory
    )
    assert (first["messages"][3]["content"], second["messages"][3]["content"]) == ("", None)


async def test_alternating_roles() -> None:
    refusal = refused(500, "Conversation roles must alternate user/assistant/user/assistant")
    second = (await sent_after(refusal))[1]
    assert second["messages"][:3] == [
        {"role": "system", "content": "Be."},
        {"role": "user", "content": "Context\n\nHi"},
        {**ASKING, "content": None, "tool_calls": BODY["messages"][3]["tool_calls"]},
    ]


async def test_missing_reasoning_is_added() -> None:
    plain = {**BODY, "messages": [dict(item) for item in BODY["messages"]]}
    del plain["messages"][3]["reasoning_content"]
    refusal = refused(400, "reasoning_content is missing in assistant message at index 3")
    second = (await sent_after(refusal, body=plain))[1]
    assert second["messages"][3]["reasoning_content"] == ""


async def test_several_quirks_are_learnt_one_after_the_other_and_kept() -> None:
    memory: dict[str, list[str]] = {}
    await sent_after(
        refused(400, "isFile is not permitted"),
        refused(400, "Unknown parameter: top_p"),
        memory=memory,
    )
    assert memory == {
        "https://here.example/v1": ["drop:isFile"],
        "https://here.example/v1 m": ["drop:top_p"],
    }
    transport = FakeTransport(said("ok"))
    client = ChatClient(transport, InstantClock(), memory)
    await client.complete(endpoint_of("https://here.example/v1", "", "other"), BODY)
    assert "top_p" in transport.bodies[0]
    assert not any("isFile" in item for item in transport.bodies[0]["messages"])


async def test_a_guess_that_does_not_help_is_tried_once_and_not_kept() -> None:
    memory: dict[str, list[str]] = {}
    refusals = [refused(400, "isFile is not permitted") for _ in range(2)]
    transport = FakeTransport(*refusals)
    with pytest.raises(ModelError, match="isFile is not permitted"):
        await ChatClient(transport, InstantClock(), memory).complete(HERE, BODY)
    assert (len(transport.requests), memory) == (2, {})


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "temperature must be between 0 and 1"),
        (400, "max_tokens is too large: this model supports at most 50"),
        (400, "Something else"),
        (401, "isFile is not permitted"),
        (404, "isFile is not permitted"),
    ],
)
async def test_other_refusals_are_final(status: int, message: str) -> None:
    transport = FakeTransport(refused(status, message))
    with pytest.raises(ModelError, match=message):
        await ChatClient(transport, InstantClock()).complete(HERE, BODY)


def test_without_quirks_nothing_changes_but_the_content_of_calls() -> None:
    adapted = quirks.adapt(BODY, frozenset())
    assert adapted["messages"][3]["content"] is None
    adapted["messages"][3]["content"] = ""
    assert adapted == BODY
