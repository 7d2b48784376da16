"""One client's bodies cost that client: what is refused is not read, what is large parsed aside."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from personae_server import helpers, protocol, relay_body
from personae_server.chat_fields import chat_fields
from personae_server.relay_body import Bodies, understood
from starlette.requests import Request

from tests.server.hostile import CLIENT, MANY_VALUES, OTHER, chat_head, connection, relayed
from tests.server.support import code_of

ANY_FIELDS = chat_fields()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"relay_rate": "1/hour"}, "rate_limited"),
        ({"relay_tokens": "1/hour"}, "budget_spent"),
    ],
)
async def test_what_is_over_a_limit_is_refused_before_its_body(
    static: Path, settings: dict[str, str], code: str
) -> None:
    hello = json.dumps({"model": "good", "messages": []}).encode()
    async with relayed(static, **settings) as (service, base):
        async with connection(base) as first:
            await first.send(chat_head(len(hello)) + hello)
            assert (await first.answer())[0] == 200
        async with connection(base) as second:
            await second.send(chat_head(8_000_000))
            assert await second.code() == code
    assert len(service.requests) == 1


async def test_a_place_in_the_queue_comes_before_the_body(static: Path) -> None:
    async with relayed(static, relay_streams=1) as (_, base):
        async with connection(base) as holding, connection(base) as second:
            await holding.send(chat_head(8_000_000) + b"{")
            while True:  # until the first one has its place
                await second.send(chat_head(8_000_000))
                if await second.code() == "too_many_streams":
                    break
        async with connection(base, OTHER) as other:
            hello = b'{"model": "good", "messages": []}'
            await other.send(chat_head(len(hello)) + hello)
            assert (await other.answer())[0] == 200


async def test_requests_for_a_model_that_is_not_offered_are_counted(static: Path) -> None:
    async with (
        relayed(static, relay_rate="2/hour") as (_, base),
        httpx.AsyncClient(base_url=base, verify=False) as client,
    ):
        path, body = "/v1/chat/completions", {"model": "other"}
        asked = [await client.post(path, json=body) for _ in range(3)]
    assert [code_of(each) for each in asked] == ["model_not_allowed"] * 2 + ["rate_limited"]


async def test_a_body_that_is_declared_too_large_is_not_read(static: Path) -> None:
    async with relayed(static) as (_, base), connection(base) as sender:
        await sender.send(chat_head(relay_body.MAX_BODY + 1))
        assert await sender.code() == "request_too_large"


async def test_a_long_conversation_with_pictures_passes(static: Path) -> None:
    picture = "data:image/jpeg;base64," + "QUJD" * 180_000
    part = {"type": "image_url", "image_url": {"url": picture}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "word " * 2000}, part]}
        for _ in range(20)
    ]
    async with (
        relayed(static) as (service, base),
        httpx.AsyncClient(base_url=base, verify=False, timeout=60) as client,
    ):
        body = {"model": "good", "messages": messages}
        answer = await client.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    assert service.requests[0]["messages"] == messages


class Loop:
    """How long the loop stood still while something ran beside it."""

    def __init__(self) -> None:
        self.longest = 0.0

    async def __aenter__(self) -> Loop:
        self._task = asyncio.create_task(self._watch())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await asyncio.sleep(0.01)
        self._task.cancel()

    async def _watch(self) -> None:
        last = time.thread_time()
        while True:
            await asyncio.sleep(0.001)
            now = time.thread_time()
            self.longest, last = max(self.longest, now - last), now


def request_with(body: bytes) -> Request:
    messages = iter([{"type": "http.request", "body": body}])

    async def receive() -> Any:
        return next(messages)

    headers = [(b"content-type", b"application/json")]
    return Request({"type": "http", "method": "POST", "headers": headers}, receive)


async def test_a_large_body_is_parsed_beside_the_loop() -> None:
    """In processor time of the loop's thread, so that a busy machine changes nothing."""
    start = time.thread_time()
    understood(MANY_VALUES, ANY_FIELDS, ("*",))
    whole = time.thread_time() - start
    async with Loop() as loop:
        asked = await Bodies(ANY_FIELDS, ("*",)).asked(request_with(MANY_VALUES), CLIENT)
    assert len(asked.content) > 1_000_000
    assert loop.longest < whole / 4


async def test_one_clients_bodies_do_not_hold_up_anothers() -> None:
    bodies = Bodies(ANY_FIELDS, ("*",))
    ended: list[str] = []

    async def ask(client: str, body: bytes) -> None:
        await bodies.asked(request_with(body), client)
        ended.append(client)

    tasks = [asyncio.create_task(ask(CLIENT, MANY_VALUES)) for _ in range(4)]
    await asyncio.sleep(0)
    message = {"role": "user", "content": "x" * relay_body.SMALL}
    await ask(OTHER, json.dumps({"model": "good", "messages": [message]}).encode())
    assert ended.count(CLIENT) < 4, "the other client stood in this one's line"
    await asyncio.gather(*tasks)


async def test_what_a_helper_cannot_hold_is_refused_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bodies = Bodies(ANY_FIELDS, ("*",))
    nested = b'{"model": ' + b"[" * 100_000
    with pytest.raises(Exception, match="JSON") as caught:
        await bodies.asked(request_with(nested), CLIENT)
    assert getattr(caught.value, "code", None) == "request_invalid"
    monkeypatch.setattr(relay_body, "PARSE_SECONDS", 0.001)
    with pytest.raises(Exception, match="cannot be read"):
        await bodies.asked(request_with(MANY_VALUES), CLIENT)
    monkeypatch.setattr(relay_body, "PARSE_SECONDS", 60)
    assert (await bodies.asked(request_with(MANY_VALUES), CLIENT)).content


def much(size: int) -> int:
    return len(bytes(size))


async def test_a_helper_has_a_ceiling_of_memory() -> None:
    with pytest.raises(helpers.HelperFailed):
        await helpers.Helpers().run(CLIENT, 60, much, helpers.MEMORY)
    assert await helpers.Helpers().run(CLIENT, 60, much, 1000) == 1000


async def test_a_body_that_does_not_come_is_given_up(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_body, "SILENT_SECONDS", 0.2)
    monkeypatch.setattr(protocol, "LINGER_SECONDS", 0.2)
    async with relayed(static, relay_streams=1) as (_, base), connection(base) as held:
        await held.send(chat_head(1000) + b"{")
        assert await held.code() == "request_slow"
        assert await held.ended() == b""


async def test_a_body_that_trickles_is_given_up(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_body, "TOTAL_SECONDS", 0.5)
    async with relayed(static) as (_, base), connection(base) as held:
        await held.send(chat_head(10_000_000) + b"{")
        answer = asyncio.create_task(held.code())
        while not answer.done():
            await held.send(b" ")
            await asyncio.sleep(0.02)
        assert answer.result() == "request_slow"


async def test_a_client_that_leaves_in_its_body_is_no_fault_of_the_server(
    static: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with relayed(static, relay_streams=1) as (_, base):
        async with connection(base) as leaving:
            await leaving.send(chat_head(1000) + b"{")
        hello = b'{"model": "good", "messages": []}'
        async with connection(base) as next_one:
            while True:  # until the place is free again
                await next_one.send(chat_head(len(hello)) + hello)
                if (await next_one.answer())[0] == 200:
                    break
    assert "Traceback" not in caplog.text
