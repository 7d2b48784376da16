"""Retries, waits, cancellation and every error, with a clock and a transport that are told."""

from __future__ import annotations

import asyncio
import gc
import json
import weakref
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from personae.errors import ModelError
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.llm.provider.http_exchange import END_PATIENCE, GIVE_UP, PATIENCE
from personae.llm.request.body import build_body, call_ids, user_message
from personae.llm.stream.reply import Event, Reply, TextDelta, Waiting
from personae.ports import HttpRequest

from tests.llm.fakes import (
    FakeResponse,
    FakeTransport,
    InstantClock,
    ManualClock,
    chunk,
    endpoint_of,
    refused,
    said,
    settle,
    sse,
)

KEY = "sk-very-secret"
HERE = endpoint_of("https://here.example/v1", KEY, "m")
BODY = build_body([user_message("Hi")])
UNREACHABLE = ModelError("model_unreachable", f"No answer ({KEY}).", status=None)
BROKEN = ModelError("model_connection_lost", "The connection broke.", status=200)


def make(*answers: FakeResponse | Exception, clock: ManualClock | None = None) -> ChatClient:
    return ChatClient(FakeTransport(*answers), clock or InstantClock(), random=lambda: 1.0)


async def collect(client: ChatClient, into: list[Event] | None = None) -> list[Event]:
    events = [] if into is None else into
    async with aclosing(client.stream(HERE, BODY)) as stream:
        async for event in stream:
            events.append(event)
    return events


async def failure(*answers: FakeResponse | Exception) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await collect(make(*answers))
    error = caught.value
    assert KEY not in f"{error} {error.message} {error.detail}"
    return error


def waits(events: list[Event]) -> list[tuple[str, float, int]]:
    return [(e.reason, e.seconds, e.attempt) for e in events if isinstance(e, Waiting)]


async def test_backoff_doubles_and_ends() -> None:
    clock = InstantClock()
    events: list[Event] = []
    with pytest.raises(ModelError) as caught:
        await collect(make(*[refused(500, "down") for _ in range(4)], clock=clock), events)
    assert waits(events) == [
        ("model_server_error", 1.0, 1),
        ("model_server_error", 2.0, 2),
        ("model_server_error", 4.0, 3),
    ]
    assert clock.slept == [1, 2, 4]
    assert caught.value.code == "model_server_error"
    assert all(isinstance(event, Waiting) and "down" in event.message for event in events)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7),
        ("0", 0),
        ("2.5", 2.5),
        ("60", 60),
        ("Tue, 14 Nov 2023 22:13:50 GMT", 30),
        ("Tue, 14 Nov 2023 22:14:20 GMT", 60),
        ("Tue, 14 Nov 2023 22:00:00 GMT", 0),
        ("-5", 1),
        ("soon", 1),
        ("nan", 1),
        ("inf", 1),
        ("1e3", 1),
        ("", 1),
        ("Tue, 99 Nov 2023 99:99:99 GMT", 1),
    ],
)
async def test_retry_after(header: str, seconds: float) -> None:
    slow = refused(429, "slow down", headers={"retry-after": header})
    clock = ManualClock()
    task = asyncio.create_task(collect(make(slow, said("ok"), clock=clock)))
    await clock.advance(seconds)
    assert waits(await asyncio.wait_for(task, 1)) == [("model_rate_limited", seconds, 1)]


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (refused(429, "slow down", headers={"retry-after": "61"}), "61 seconds"),
        (refused(503, "later", headers={"retry-after": "86400"}), "24 hours"),
        (
            refused(429, "later", headers={"retry-after": "Fri, 17 Nov 2023 22:13:20 GMT"}),
            "3 days",
        ),
        (refused(429, "Limit 100000 TPM. Please try again in 7m12.5s."), "7 minutes"),
        (refused(429, "Rate limit reached, retry in 2 hours 10 minutes"), "2 hours"),
    ],
)
async def test_a_wait_that_nobody_would_sit_out_fails_at_once(
    refusal: FakeResponse, said: str
) -> None:
    error = await failure(refusal)
    assert said in error.message


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Please retry in 21.7s.", 21.7),
        ("Please try again in 850ms. Visit the docs", 0.85),
        ("Rate limit reached. Try again in 12 seconds", 12),
    ],
)
async def test_a_wait_told_in_words(words: str, seconds: float) -> None:
    events = await collect(make(refused(429, words), said("ok")))
    assert waits(events) == [("model_rate_limited", seconds, 1)]


async def test_jitter_shortens_a_wait_by_up_to_half() -> None:
    transport = FakeTransport(refused(500), said("ok"))
    client = ChatClient(transport, InstantClock(), random=lambda: 0.0)
    assert waits(await collect(client)) == [("model_server_error", 0.5, 1)]


async def test_an_unreachable_provider_is_tried_again() -> None:
    events = await collect(make(UNREACHABLE, said("ok")))
    assert waits(events) == [("model_unreachable", 1, 1)]
    assert not any(KEY in str(event) for event in events)


@pytest.mark.parametrize("key", ["", KEY])
async def test_a_hidden_refusal_names_the_key_first(key: str) -> None:
    transport = FakeTransport(*[UNREACHABLE] * 4)
    with pytest.raises(ModelError) as caught:
        async for _ in ChatClient(transport, InstantClock()).stream(
            endpoint_of("https://model.example/v1", key, "m"), build_body([user_message("Hi")])
        ):
            pass
    assert caught.value.message.startswith("The API key may be wrong") == bool(key)


async def test_a_limit_reported_inside_the_stream_is_tried_again() -> None:
    limited = FakeResponse([sse({"error": {"message": "busy", "code": 429}})])
    assert waits(await collect(make(limited, said("ok")))) == [("model_rate_limited", 1, 1)]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_what_will_not_get_better_is_not_tried_again(status: int) -> None:
    assert (await failure(refused(status))).detail["status"] == status


async def test_nothing_is_sent_twice_after_the_first_token() -> None:
    events: list[Event] = []
    client = make(FakeResponse([sse(chunk({"content": "Hi"}), done=False), BROKEN]))
    with pytest.raises(ModelError):
        await collect(client, events)
    assert events == [TextDelta("Hi")]


async def test_a_connection_lost_after_the_finish_is_a_complete_reply() -> None:
    whole = sse(chunk({"content": "Hi"}), chunk(finish="stop"), done=False)
    events = await collect(make(FakeResponse([whole, BROKEN])))
    assert isinstance(events[-1], Reply) and events[-1].text == "Hi"


async def test_a_stop_during_the_wait_ends_it() -> None:
    clock = ManualClock()
    events: list[Event] = []
    client = make(refused(429, headers={"retry-after": "50"}), clock=clock)
    task = asyncio.create_task(collect(client, events))
    await clock.advance(10)
    assert len(events) == 1 and not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_cancelling_closes_the_response_before_it_returns() -> None:
    response = FakeResponse([sse(chunk({"content": "Hi"}), done=False), None])
    events: list[Event] = []
    task = asyncio.create_task(collect(make(response), events))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (events, response.closed) == ([TextDelta("Hi")], 1)


async def test_cancelling_reaches_a_request_without_headers() -> None:
    cancelled = []

    class Silent:
        async def open(self, request: HttpRequest) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(request.url)
                raise

    task = asyncio.create_task(collect(ChatClient(Silent(), InstantClock())))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled == ["https://here.example/v1/chat/completions"]


async def test_every_response_is_closed_once_it_is_done_with() -> None:
    responses = [refused(500), FakeResponse([b""]), said("ok")]
    with pytest.raises(ModelError):
        await collect(make(*responses[:2]))
    await collect(make(responses[2]))
    assert [response.closed for response in responses] == [1, 1, 1]


async def test_silence_is_announced_then_given_up() -> None:
    clock = ManualClock()
    events: list[Event] = []
    task = asyncio.create_task(collect(make(FakeResponse([None]), clock=clock), events))
    await clock.advance(PATIENCE - 1)
    assert events == []
    await clock.advance(2)
    assert waits(events) == [("model_stalled", GIVE_UP - PATIENCE, 1)]
    await clock.advance(GIVE_UP - PATIENCE - 2)
    assert not task.done()
    await clock.advance(2)
    with pytest.raises(ModelError, match="300 seconds") as caught:
        await task
    assert caught.value.code == "model_stalled"


class Dripping(FakeResponse):
    """Sends a piece each time it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: asyncio.Queue[bytes] = asyncio.Queue()

    async def chunks(self) -> AsyncIterator[bytes]:
        while True:
            yield await self.queue.get()


async def test_keep_alives_reset_the_watchdog() -> None:
    clock, response = ManualClock(), Dripping()
    events: list[Event] = []
    task = asyncio.create_task(collect(make(response, clock=clock), events))
    for _ in range(12):
        await clock.advance(PATIENCE - 1)
        response.queue.put_nowait(b": keep-alive\n\n")
    assert events == []
    await clock.advance(PATIENCE + 1)
    response.queue.put_nowait(b": keep-alive\n\n")
    await clock.advance(PATIENCE - 1)
    assert len(events) == 1
    await clock.advance(2)
    assert len(events) == 2, "a second silence is announced again"
    response.queue.put_nowait(sse(chunk({"content": "Hi"}), chunk(finish="stop")))
    assert (await task)[-2] == TextDelta("Hi")


async def test_a_server_that_never_ends_its_stream_does_not_hold_the_reply() -> None:
    clock = ManualClock()
    unended = sse(chunk({"content": "Hi"}), chunk(finish="stop"), done=False)
    task = asyncio.create_task(collect(make(FakeResponse([unended, None]), clock=clock)))
    await clock.advance(END_PATIENCE - 1)
    assert not task.done()
    await clock.advance(2)
    reply = (await task)[-1]
    assert isinstance(reply, Reply) and reply.text == "Hi"


async def test_a_whole_json_reply_to_a_streaming_request() -> None:
    message = {"role": "assistant", "content": "OK", "tool_calls": None}
    whole = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    data = b"\n " + json.dumps(whole).encode()
    headers = {"content-type": "text/event-stream"}
    events = await collect(make(FakeResponse([data[:1], data[1:9], data[9:]], headers=headers)))
    assert events[0] == TextDelta("OK")
    assert isinstance(events[1], Reply)


async def test_a_stream_in_answer_to_a_request_for_json() -> None:
    reply = await make(said("streamed")).complete(HERE, BODY)
    assert reply.text == "streamed"


async def test_a_byte_order_mark_cut_from_the_first_line() -> None:
    data = b"\xef\xbb\xbf" + sse(chunk({"content": "Hi"}), chunk(finish="stop"))
    for pieces in ([data[at : at + 1] for at in range(len(data))], [data[:1], data[1:]]):
        assert (await collect(make(FakeResponse(pieces))))[0] == TextDelta("Hi")


async def test_a_last_event_without_its_blank_line_counts() -> None:
    data = sse(chunk({"content": "Hi"}), done=False).rstrip()
    assert (await collect(make(FakeResponse([data]))))[0] == TextDelta("Hi")


async def test_a_stream_cut_inside_an_event_is_an_error_unless_the_reply_was_finished() -> None:
    begun, finish = sse(chunk({"content": "Hi"}), done=False), sse(chunk(finish="stop"), done=False)
    with pytest.raises(ModelError) as caught:
        await collect(make(FakeResponse([begun, b'data: {"choices": [{"del'])))
    assert caught.value.code == "model_stream_error"
    events = await collect(make(FakeResponse([begun, finish, b'data: {"usage'])))
    assert isinstance(events[-1], Reply)


@pytest.mark.parametrize(
    ("answer", "code", "words"),
    [
        (refused(401, f"Wrong key {KEY}"), "model_unauthorized", r"HTTP 401.*Wrong key \[hidden\]"),
        (refused(401, "The model m does not exist for you"), "model_unauthorized", "HTTP 401"),
        (refused(429, "too many tokens per minute"), "model_rate_limited", "Wait a moment"),
        (refused(403, "Not your region"), "model_unauthorized", "HTTP 403.*Not your region"),
        (refused(400, "API key not valid"), "model_unauthorized", "Check the key"),
        (refused(402, "pay"), "model_quota", "credit"),
        (refused(429, "You exceeded", code="insufficient_quota"), "model_quota", "credit"),
        (refused(404, "The model m does not exist"), "model_not_found", "does not exist"),
        (refused(400, "m is not a valid model ID"), "model_not_found", "not a valid model"),
        (refused(400, "no", code="context_length_exceeded"), "model_context_length", "too long"),
        (refused(500, "context size exceeded"), "model_context_length", "too long"),
        (refused(404, "No endpoints found that support tool use"), "model_no_tools", "tool"),
        (refused(400, "m does not support tools"), "model_no_tools", "supports tool calling"),
        (refused(400, "no", code="content_filter"), "model_content_filter", "filter"),
        (refused(413, "Body too big"), "model_bad_request", "Body too big"),
        (refused(418, "teapot"), "model_bad_request", "HTTP 418.*teapot"),
        (FakeResponse([b"<html><title>Not here</title>"], 404), "model_not_json", "Not here"),
        (FakeResponse([b"\n<!DOCTYPE html><p>Hi"]), "model_not_json", "base URL right"),
        (FakeResponse([b"Hello, I am a web server"]), "model_not_json", "I am a web server"),
        (FakeResponse([b'{"status": "fine"}']), "model_bad_reply", "no chat completion.*fine"),
        (FakeResponse([b'{"choices": '], 200), "model_not_json", "not JSON"),
        (FakeResponse([b"[" * 100_000]), "model_not_json", "not JSON"),
        (FakeResponse([b'{"detail": "Not Found"}'], 404), "model_not_found", "Not Found"),
        (FakeResponse([b'[{"error": {"message": "listed"}}]'], 400), "model_bad_request", "listed"),
        (FakeResponse([b"plain words"], 400), "model_bad_request", "plain words"),
        (FakeResponse([b""], 400), "model_bad_request", "HTTP 400"),
        (FakeResponse([b""], 302), "model_bad_request", "HTTP 302"),
        (FakeResponse([b""]), "model_empty_reply", "nothing"),
        (FakeResponse([b": ping\n\ndata: [DONE]\n\n"]), "model_empty_reply", "nothing"),
        (FakeResponse([sse(chunk(finish="stop"))]), "model_empty_reply", "nothing"),
        (
            FakeResponse([sse(chunk({"reasoning": "hm"}), chunk(finish="length"))]),
            "model_empty_reply",
            "after thinking.*more tokens",
        ),
        (FakeResponse([sse(chunk(finish="content_filter"))]), "model_empty_reply", "filter"),
        (FakeResponse([b'{"error": "boom"}']), "model_stream_error", "boom"),
    ],
)
async def test_errors(answer: FakeResponse, code: str, words: str) -> None:
    # Some of these are tried again; the answers are the same then.
    again = [FakeResponse(answer.pieces, answer.status) for _ in range(3)]
    error = await failure(answer, *again)
    assert error.code == code
    with pytest.raises(ModelError, match=words):
        raise error
    assert error.detail["url"] == "https://here.example/v1/chat/completions"


@pytest.mark.parametrize("status", [502, 503, 429])
async def test_a_page_from_a_gateway_is_a_failure_of_the_server(status: int) -> None:
    page = FakeResponse([b"<html><head><title>Bad gateway</title></head></html>"], status)
    events = await collect(make(page, said("ok")))
    assert isinstance(events[0], Waiting) and "Bad gateway" in events[0].message


async def test_a_long_page_is_not_read_to_its_end() -> None:
    response = FakeResponse([b"<html><title>Long</title>", *[b"x" * 65536] * 50])
    with pytest.raises(ModelError, match="Long"):
        await collect(make(response))
    assert response.sent < 10


async def test_a_long_error_is_cut() -> None:
    error = await failure(refused(400, "\U0001f319" * 100_000))
    assert len(error.message) < 1000
    error.message.encode()


async def test_ids_avoid_those_of_earlier_rounds() -> None:
    earlier = {"id": "a", "function": {"name": "roll", "arguments": "{}"}}
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": "", "tool_calls": [earlier]},
        {"role": "tool", "tool_call_id": "a", "content": "6"},
    ]
    again = [{"index": 0, "id": "a", "function": {"name": "roll", "arguments": "{}"}}]
    transport = FakeTransport(FakeResponse([sse(chunk({"tool_calls": again}))]))
    client = ChatClient(transport, InstantClock())
    async with aclosing(
        client.stream(HERE, build_body(messages), taken=call_ids(messages))
    ) as stream:
        reply = [event async for event in stream][-1]
    assert isinstance(reply, Reply)
    assert reply.tool_calls[0].id not in ("a", "call00001", "")


async def test_a_response_does_not_wait_for_the_garbage_collector() -> None:
    opened: list[weakref.ref[FakeResponse]] = []

    class Once:
        async def open(self, request: HttpRequest) -> FakeResponse:
            response = said("Hi")
            opened.append(weakref.ref(response))
            return response

    gc.disable()
    try:
        await collect(ChatClient(Once(), ManualClock()))
        await settle()
        assert [response() for response in opened] == [None]
    finally:
        gc.enable()


async def test_usage_is_the_providers_or_an_estimate() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1}
    counted = FakeResponse([sse(chunk({"content": "Hi"}), {"choices": [], "usage": usage})])
    assert (await make(counted).complete(HERE, BODY)).usage == {**usage, "total_tokens": 10}
    assert (await make(said("12345")).complete(HERE, BODY)).usage == {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 3,
        "estimated": True,
    }


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://a.example/v1", "https://a.example/v1/chat/completions"),
        (" https://a.example/v1/ ", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1/chat/completions", "https://a.example/v1/chat/completions"),
        ("HTTP://a.example", "HTTP://a.example/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("https://a.example/v1?version=2", "https://a.example/v1/chat/completions?version=2"),
    ],
)
async def test_base_urls(base: str, url: str) -> None:
    transport = FakeTransport(said("ok"))
    client = ChatClient(transport, InstantClock())
    await client.complete(endpoint_of(base, "", "m"), BODY)
    assert transport.requests[0].url == url
    assert "Authorization" not in transport.requests[0].headers


@pytest.mark.parametrize(
    ("endpoint", "code"),
    [
        (endpoint_of("a.example/v1", KEY, "m"), "model_bad_settings"),
        (endpoint_of("", KEY, "m"), "model_bad_settings"),
        (endpoint_of("javascript:alert(1)", KEY, "m"), "model_bad_settings"),
        (endpoint_of("https://a.example", KEY, " "), "model_bad_settings"),
        (endpoint_of("https://a.example", "sk-\u2026secret", "m"), "model_unauthorized"),
        (endpoint_of("https://a.example", "sk-a\nb", "m"), "model_unauthorized"),
    ],
)
async def test_settings_no_request_can_be_made_of(endpoint: Endpoint, code: str) -> None:
    client = ChatClient(FakeTransport(), InstantClock())
    with pytest.raises(ModelError, match="settings") as caught:
        await client.complete(endpoint, BODY)
    assert caught.value.code == code


def test_the_key_is_not_in_the_repr() -> None:
    assert KEY not in repr(HERE)


async def test_the_key_is_sent_trimmed() -> None:
    transport = FakeTransport(said("ok"))
    endpoint = endpoint_of("https://a.example", f" {KEY}\n", "m")
    await ChatClient(transport, InstantClock()).complete(endpoint, BODY)
    assert transport.requests[0].headers["Authorization"] == f"Bearer {KEY}"


async def test_lone_surrogates_never_leave() -> None:
    transport = FakeTransport(said("ok"))
    body = {"messages": [{"role": "user", "content": "\ud83c"}]}
    await ChatClient(transport, InstantClock()).complete(HERE, body)
    assert transport.bodies[0]["messages"][0]["content"] == "\ufffd"


@pytest.mark.parametrize(
    ("listed", "names"),
    [
        ({"data": [{"id": "b"}, {"id": "a"}, {"id": "b"}]}, ["b", "a"]),
        ({"models": [{"name": "a"}, {"model": "b"}, {"id": 5}, None]}, ["a", "b"]),
        ([{"id": "a"}, "b"], ["a", "b"]),
        ({}, []),
        ({"data": None}, []),
    ],
)
async def test_model_lists(listed: Any, names: list[str]) -> None:
    assert await make(FakeResponse([json.dumps(listed).encode()])).list_models(HERE) == names


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refused(401, f"Wrong key {KEY}"), "model_unauthorized"),
        (refused(500), "model_server_error"),
        (FakeResponse([b"<title>Hi</title>"]), "model_not_json"),
        (FakeResponse([b"hello"]), "model_not_json"),
        (FakeResponse([b'{"error": {"message": "no"}}']), "model_stream_error"),
        (UNREACHABLE, "model_unreachable"),
    ],
)
async def test_model_list_errors(answer: FakeResponse | Exception, code: str) -> None:
    with pytest.raises(ModelError) as caught:
        await make(answer).list_models(HERE)
    assert caught.value.code == code
    assert KEY not in str(caught.value)
