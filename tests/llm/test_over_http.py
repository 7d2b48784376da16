"""The client against a real HTTP server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.llm.request.body import build_body, user_message
from personae.llm.stream.reply import Event, Reply, TextDelta, ToolCallDelta, Waiting

from tests.llm.fakes import endpoint_of
from tests.provider import (
    KEEP_ALIVE,
    ModelProvider,
    Pause,
    Reset,
    Stall,
    calls,
    chunk,
    error,
    page,
    reply_json,
    says,
    stream,
)
from tests.provider.transport import HttpxTransport, SystemClock


@pytest.fixture
async def client() -> AsyncIterator[ChatClient]:
    """A client whose waits are a hundredth of the usual."""
    async with HttpxTransport() as transport:
        yield ChatClient(transport, SystemClock(), random=lambda: -0.98)


@pytest.fixture
def endpoint(provider: ModelProvider) -> Endpoint:
    return endpoint_of(provider.base_url, "sk-secret-key", "scripted")


BODY = build_body([user_message("Hello")])


async def collect(client: ChatClient, endpoint: Endpoint, body: Any = BODY) -> list[Event]:
    async with aclosing(client.stream(endpoint, body)) as events:
        return [event async for event in events]


async def test_a_streamed_reply(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    provider.script(says("Hello to you \u4f60\u597d", reasoning="hm hm", usage=usage))
    *deltas, reply = await collect(client, endpoint)
    assert isinstance(reply, Reply)
    text = "".join(event.text for event in deltas if isinstance(event, TextDelta))
    assert text == reply.text == "Hello to you \u4f60\u597d"
    assert (reply.reasoning, reply.usage) == ("hm hm", usage)
    seen = provider.chats[0]
    assert seen.headers["authorization"] == "Bearer sk-secret-key"
    assert seen.body == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def test_tool_calls(client: ChatClient, endpoint: Endpoint, provider: ModelProvider) -> None:
    provider.script(calls(("roll", {"sides": 6}), ("look", {}), text="Well"))
    *deltas, reply = await collect(client, endpoint)
    assert ToolCallDelta(1, "look") in deltas
    assert isinstance(reply, Reply)
    assert [(made.name, made.arguments) for made in reply.tool_calls] == [
        ("roll", '{"sides": 6}'),
        ("look", "{}"),
    ]


async def test_one_byte_at_a_time(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    steps = b"".join(step for step in says("\u4f60\U0001f319").steps if isinstance(step, bytes))
    provider.script(stream(*(steps[at : at + 1] for at in range(len(steps)))))
    reply = (await collect(client, endpoint))[-1]
    assert isinstance(reply, Reply)
    assert reply.text == "\u4f60\U0001f319"


async def test_complete(client: ChatClient, endpoint: Endpoint, provider: ModelProvider) -> None:
    provider.script(reply_json("four words of text"))
    reply = await client.complete(endpoint, BODY)
    assert reply.text == "four words of text"
    assert reply.usage["estimated"] is True
    assert provider.chats[0].body["stream"] is False
    assert "stream_options" not in provider.chats[0].body


async def test_list_models(client: ChatClient, endpoint: Endpoint, provider: ModelProvider) -> None:
    provider.set_models("b", "a")
    assert await client.list_models(endpoint) == ["b", "a"]


async def test_retries_are_visible(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(
        error(503, "overloaded"), error(429, "slow", headers={"retry-after": "0"}), says("Hi")
    )
    first, second, *_, reply = await collect(client, endpoint)
    assert isinstance(first, Waiting) and first.reason == "model_server_error"
    assert isinstance(second, Waiting) and (second.reason, second.seconds) == (
        "model_rate_limited",
        0,
    )
    assert isinstance(reply, Reply) and reply.text == "Hi"


async def test_a_reset_before_the_first_token_is_retried(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(stream(KEEP_ALIVE, Reset()), says("Hi"))
    waiting, *_, reply = await collect(client, endpoint)
    assert isinstance(waiting, Waiting)
    assert isinstance(reply, Reply) and reply.text == "Hi"


async def test_a_reset_after_text_is_an_error_after_that_text(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(says("Half an").without_end(Reset()), says("no"))
    events = []
    with pytest.raises(ModelError) as caught:
        async for event in client.stream(endpoint, BODY):
            events.append(event)
    assert caught.value.code == "model_connection_lost"
    assert [event.text for event in events if isinstance(event, TextDelta)] == ["Half ", "an"]
    assert len(provider.chats) == 1


async def test_cancelling_closes_the_connection(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(says("Hello").without_end(Stall()))
    task = asyncio.create_task(collect(client, endpoint))
    await asyncio.to_thread(provider.wait_for_chats, 1)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(provider.wait_until_left)


async def test_leaving_the_loop_closes_the_connection(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(says("Hello").without_end(Stall()))
    async with aclosing(client.stream(endpoint, BODY)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    await asyncio.to_thread(provider.wait_until_left)


async def test_cancelling_before_the_headers_closes_the_connection(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(stream(Stall()))
    task = asyncio.create_task(collect(client, endpoint))
    await asyncio.to_thread(provider.wait_for_chats, 1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(provider.wait_until_left)


async def test_the_stream_ends_at_done_even_if_the_server_holds_on(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(says("Hi").then(Stall()))
    reply = (await collect(client, endpoint))[-1]
    assert isinstance(reply, Reply) and reply.text == "Hi"
    await asyncio.to_thread(provider.wait_until_left)


async def test_a_page_in_place_of_json(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(page("Sign in &amp; go"))
    with pytest.raises(
        ModelError, match=r'HTTP 200, titled "Sign in & go".*base URL right'
    ) as caught:
        await collect(client, endpoint)
    assert caught.value.code == "model_not_json"
    assert caught.value.detail["url"] == f"{provider.base_url}/chat/completions"


async def test_nobody_listens(client: ChatClient) -> None:
    events = []
    with pytest.raises(ModelError) as caught:
        async for event in client.stream(endpoint_of("http://127.0.0.1:9/v1", "", "m"), BODY):
            events.append(event)
    assert caught.value.code == "model_unreachable"
    assert len(events) == 3


async def test_slow_streams_arrive_as_they_are_sent(
    client: ChatClient, endpoint: Endpoint, provider: ModelProvider
) -> None:
    provider.script(stream(chunk({"content": "first"}), Stall()))
    async with aclosing(client.stream(endpoint, BODY)) as events:
        assert await anext(events) == TextDelta("first")
        provider.release()
        rest = [event async for event in events]
    assert isinstance(rest[-1], Reply)


async def test_pauses(client: ChatClient, endpoint: Endpoint, provider: ModelProvider) -> None:
    provider.script(says("a b").paced(0.01).then(Pause(0.01)))
    reply = (await collect(client, endpoint))[-1]
    assert isinstance(reply, Reply) and reply.text == "a b"
