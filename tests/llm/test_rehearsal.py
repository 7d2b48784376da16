"""The rehearsal model through the same client as every provider."""

from __future__ import annotations

import json
from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.provider.client import ChatClient
from personae.llm.rehearsal import BASE_URL, LABEL, MODEL, RehearsalTransport, Routed
from personae.llm.request.body import (
    build_body,
    file_message,
    system_message,
    tool_message,
    user_message,
)
from personae.llm.stream.reply import Reply, TextDelta, ToolCallDelta
from personae.package.model import ToolDefinition
from personae.ports import HttpRequest

from tests.llm.fakes import FakeTransport, InstantClock, endpoint_of, said

HERE = endpoint_of(BASE_URL, "", MODEL)
TOOLS = [ToolDefinition(name, "", {"type": "object"}) for name in ("roll_dice", "look")]
CONTEXT = [system_message("Be kind."), file_message("The tavern is old.")]


def client() -> ChatClient:
    return ChatClient(RehearsalTransport(InstantClock()), InstantClock())


async def answer(*messages: dict[str, Any], **settings: Any) -> Reply:
    body = build_body([*CONTEXT, *messages], **{"tools": TOOLS, **settings})
    events = [event async for event in client().stream(HERE, body)]
    reply = events[-1]
    assert isinstance(reply, Reply)
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    named = [event.name for event in events if isinstance(event, ToolCallDelta)]
    assert (text, named) == (reply.text, [made.name for made in reply.tool_calls])
    return reply


async def test_it_says_what_it_is_and_what_it_was_given() -> None:
    reply = await answer(user_message("Good evening \U0001f319"))
    assert reply.text.startswith(f"**{LABEL}.**")
    for words in (
        "\u201cGood evening \U0001f319\u201d",
        "3 messages",
        "system prompt: 8 characters",
        "\u201cThe tavern is old.\u201d",
        "roll_dice, look",
    ):
        assert words in reply.text
    assert reply.finish_reason == "stop"
    assert reply.usage["total_tokens"] > 20 and "estimated" not in reply.usage


async def test_the_same_request_gives_the_same_answer() -> None:
    assert await answer(user_message("Hi")) == await answer(user_message("Hi"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('call roll_dice {"sides": 20}', [("roll_dice", '{"sides": 20}')]),
        ("Please call look.", [("look", "{}")]),
        (
            'First\ncall roll_dice {"sides": {"n": "}"}} and\ncall look\ncall roll_dice {}',
            [("roll_dice", '{"sides": {"n": "}"}}'), ("look", "{}"), ("roll_dice", "{}")],
        ),
        ('call unknown {"a": 1}', [("unknown", '{"a": 1}')]),
        ("call roll_dice {sides: oops\nmore", [("roll_dice", "{sides: oops")]),
        ("I call mum every day; recall look", []),
        ("", []),
    ],
)
async def test_it_calls_the_tools_it_is_told_to(text: str, expected: list[tuple[str, str]]) -> None:
    reply = await answer(user_message(text))
    assert [(made.name, made.arguments) for made in reply.tool_calls] == expected
    assert len({made.id for made in reply.tool_calls}) == len(expected)
    if expected:
        assert (reply.text, reply.finish_reason) == ("", "tool_calls")


async def test_it_reports_the_results() -> None:
    asked = user_message("call look\ncall roll_dice {}")
    calls = await answer(asked)
    first, second = (made.id for made in calls.tool_calls)
    reply = await answer(
        asked, calls.message(), tool_message(first, "A door"), tool_message(second, "17")
    )
    assert "`look` answered: \u201cA door\u201d" in reply.text
    assert "`roll_dice` answered: \u201c17\u201d" in reply.text
    assert reply.tool_calls == ()


async def test_it_calls_nothing_when_told_not_to() -> None:
    reply = await answer(user_message("call look"), tool_choice="none")
    assert reply.tool_calls == ()


async def test_a_context_block_never_makes_it_call() -> None:
    assert (await answer(file_message("call look"))).tool_calls == ()
    assert (await answer()).text.count("You said nothing yet.") == 1


async def test_without_streaming() -> None:
    body = build_body([user_message("call look")], tools=TOOLS)
    reply = await client().complete(HERE, body)
    assert [made.name for made in reply.tool_calls] == ["look"]
    assert (await client().complete(HERE, build_body([user_message("Hi")]))).text


async def test_it_lists_itself() -> None:
    assert await client().list_models(HERE) == [MODEL]


async def test_other_addresses_are_unknown() -> None:
    with pytest.raises(ModelError) as caught:
        await client().complete(endpoint_of("rehearsal:/v1", "", MODEL), build_body([]))
    assert caught.value.code == "model_not_found"


async def test_a_closed_response_sends_no_more() -> None:
    body = json.dumps(build_body([user_message("Hi")]))
    request = HttpRequest("POST", "rehearsal:/chat/completions", {}, (body,))
    response = await RehearsalTransport(InstantClock()).open(request)
    chunks = response.chunks()
    await anext(chunks)
    await response.close()
    assert [piece async for piece in chunks] == []


async def test_routing_by_url() -> None:
    network = FakeTransport(said("from the network"))
    routed = Routed(RehearsalTransport(InstantClock()), network)
    both = ChatClient(routed, InstantClock())
    body = build_body([user_message("Hi")])
    assert LABEL in (await both.complete(HERE, body)).text
    assert network.requests == []
    elsewhere = endpoint_of("https://here.example/v1", "", "m")
    assert (await both.complete(elsewhere, body)).text == "from the network"
