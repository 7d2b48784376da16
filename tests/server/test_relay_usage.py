"""What each request costs its client, at the service: a rule for every way in which one ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from personae_server import metrics, relay
from personae_server.usage import TOKENS_PER_SECOND, Meter, prompt_tokens

from tests.server.model_service import ModelService
from tests.server.support import code_of, raw_upstream
from tests.server.test_relay import HELLO, ask, relayed, relaying, relaying_raw, sending

PROMPT = len(json.dumps(HELLO)) // 4
"""What is estimated of the prompt, at least."""
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close"


class Bill:
    """The tokens counted since it was made."""

    def __init__(self) -> None:
        self._before = self._now()

    @property
    def tokens(self) -> dict[str, int]:
        return {kind: number - self._before[kind] for kind, number in self._now().items()}

    async def settled(self) -> dict[str, int]:
        """Once something was counted: a client that leaves is counted after it has left."""
        async with asyncio.timeout(5):
            while not any(self.tokens.values()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return self.tokens

    def _now(self) -> dict[str, int]:
        kinds = ("prompt", "completion")
        return {kind: int(metrics.TOKENS.labels(kind)._value.get()) for kind in kinds}


@pytest.mark.parametrize("stream", [False, True])
async def test_a_whole_answer_costs_what_the_service_reports(static: Path, stream: bool) -> None:
    bill = Bill()
    async with relayed(static, relay_tokens="32/day") as (_, client):
        codes = [(await ask(client, stream=stream)).status_code for _ in range(3)]
        refused = await ask(client)
    assert codes == [200, 200, 429]
    assert code_of(refused) == "budget_spent"
    assert bill.tokens == {"prompt": 22, "completion": 10}


def reply(content: str, **more: Any) -> bytes:
    return json.dumps({"choices": [{"message": {"content": content}}], **more}).encode()


@pytest.mark.parametrize("stream", [False, True])
async def test_without_a_report_a_whole_answer_is_estimated(static: Path, stream: bool) -> None:
    event = b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % (b"x" * 200)
    parts = [event, event, b"data: [DONE]\n\n"] if stream else [reply("x" * 400)]
    bill = Bill()
    async with relaying_raw(
        static, sending(STREAM_HEAD if stream else JSON_HEAD, *parts)
    ) as client:
        assert (await ask(client, stream=stream)).status_code == 200
    assert bill.tokens["completion"] == 100
    assert PROMPT <= bill.tokens["prompt"] <= 2 * PROMPT


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_refused_request_costs_nothing(static: Path, status: int, stream: bool) -> None:
    bill = Bill()
    async with relayed(static, relay_models=("*",), relay_tokens="1/day") as (_, client):
        answers = [await ask(client, f"status-{status}", stream=stream) for _ in range(3)]
    assert all(answer.status_code in (status, 502) for answer in answers)
    assert bill.tokens == {"prompt": 0, "completion": 0}


async def test_what_this_server_refuses_costs_nothing(static: Path) -> None:
    bill = Bill()
    async with relayed(static) as (_, client):
        answers = [await ask(client, "dear"), await ask(client, n=99), await ask(client, route="x")]
    assert {answer.status_code for answer in answers} == {400, 403}
    assert bill.tokens == {"prompt": 0, "completion": 0}


async def test_a_service_that_was_not_reached_costs_nothing(static: Path) -> None:
    async with raw_upstream(lambda r, w: asyncio.sleep(0)) as port:
        pass
    bill = Bill()
    async with relaying(static, f"http://127.0.0.1:{port}/v1") as client:
        assert code_of(await ask(client)) == "upstream_failed"
    assert bill.tokens == {"prompt": 0, "completion": 0}


async def leave(
    client: httpx.AsyncClient, service: ModelService, seconds: float, **request: Any
) -> None:
    """A client that goes away ``seconds`` after the service has begun, or after it went quiet."""
    task = asyncio.create_task(ask(client, **request))
    async with asyncio.timeout(5):
        await service.waiting.wait()
        await asyncio.sleep(seconds)
        task.cancel()
        await service.cancelled.wait()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_whole_answer_whose_client_leaves_costs_the_time_it_took(static: Path) -> None:
    bill = Bill()
    async with relayed(static, relay_tokens="60/day") as (service, client):
        await leave(client, service, 0.5, model="silent")
        tokens = await bill.settled()
        refused = await ask(client)
    assert 0.5 * TOKENS_PER_SECOND <= tokens["completion"] <= 10 * TOKENS_PER_SECOND
    assert PROMPT <= tokens["prompt"] <= 2 * PROMPT
    assert code_of(refused) == "budget_spent"


async def test_it_never_costs_more_than_was_asked_for(static: Path) -> None:
    bill = Bill()
    async with relayed(static) as (service, client):
        await leave(client, service, 0.5, model="silent", max_tokens=7, n=2)
        assert (await bill.settled())["completion"] == 14


async def test_a_stream_whose_client_leaves_costs_what_had_come(static: Path) -> None:
    bill = Bill()
    async with relayed(static, relay_tokens="10/day") as (service, client):
        await leave(client, service, 2, model="slow", stream=True)
        tokens = await bill.settled()
        refused = await ask(client)
    # The first words came at once: the silence after them is not the model's writing.
    assert tokens["completion"] < 1.5 * TOKENS_PER_SECOND
    assert PROMPT <= tokens["prompt"] <= 2 * PROMPT
    assert code_of(refused) == "budget_spent"


async def test_a_stream_left_before_its_first_word_costs_the_time_it_took(static: Path) -> None:
    """Reasoning that is not shown is paid for, too."""
    begun, left = asyncio.Event(), asyncio.Event()

    async def thinking(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        role = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
        writer.write(STREAM_HEAD + b"\r\n\r\n" + role)
        begun.set()
        await reader.read()
        left.set()

    bill = Bill()
    async with relaying_raw(static, thinking) as client:
        task = asyncio.create_task(ask(client, stream=True))
        async with asyncio.timeout(5):
            await begun.wait()
            await asyncio.sleep(0.5)
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        tokens = await bill.settled()
    assert tokens["completion"] >= 0.5 * TOKENS_PER_SECOND


@pytest.mark.parametrize("stream", [False, True])
async def test_a_service_that_falls_silent_is_counted(
    static: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setattr(relay, "SILENT_SECONDS", 0.3)
    bill = Bill()
    async with relayed(static) as (_, client):
        await ask(client, "slow" if stream else "silent", stream=stream)
    assert bill.tokens["prompt"] >= PROMPT
    if not stream:
        assert bill.tokens["completion"] >= 0.3 * TOKENS_PER_SECOND


@pytest.mark.parametrize(
    ("head", "parts", "least"),
    [
        (JSON_HEAD + b"\r\nContent-Length: 5000", [b" " * 400], 100),
        (JSON_HEAD, [b"<p>" + b"x" * 400], 100),
        (STREAM_HEAD + b"\r\nContent-Length: 5000",
         [b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % (b"x" * 400)], 100),
        (b"HTTP/1.1 200 OK\r\nBroken", [], 0),
    ],
)  # fmt: skip
async def test_an_answer_that_breaks_or_is_none_costs_what_had_come(
    static: Path, head: bytes, parts: list[bytes], least: int
) -> None:
    bill = Bill()
    async with relaying_raw(static, sending(head, *parts)) as client:
        answer = await ask(client)
    assert "upstream_failed" in answer.text
    assert bill.tokens["prompt"] >= PROMPT
    assert bill.tokens["completion"] >= least


async def test_what_was_reported_before_a_break_is_the_least_that_is_counted(
    static: Path,
) -> None:
    told = b'data: {"choices": [{"delta": {"content": "a"}}], "usage": %s}\n\n'
    usage = b'{"prompt_tokens": 900, "completion_tokens": 800}'
    handler = sending(STREAM_HEAD + b"\r\nContent-Length: 5000", told % usage)
    bill = Bill()
    async with relaying_raw(static, handler) as client:
        await ask(client, stream=True)
    assert bill.tokens == {"prompt": 900, "completion": 800}


async def test_a_client_that_leaves_at_the_end_pays_for_a_whole_answer(static: Path) -> None:
    held = asyncio.Event()

    async def lingering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        usage = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\n'
        writer.write(STREAM_HEAD + b"\r\n\r\n" + usage + b"data: [DONE]\n\n")
        await held.wait()

    bill = Bill()
    async with relaying_raw(static, lingering) as client:
        body = {**HELLO, "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
            async for line in answer.aiter_lines():
                if line == "data: [DONE]":
                    break
        assert await bill.settled() == {"prompt": 3, "completion": 2}
        held.set()


async def test_an_unusable_report_is_no_report(static: Path) -> None:
    usage = {"prompt_tokens": -5, "completion_tokens": True}
    bill = Bill()
    async with relaying_raw(static, sending(JSON_HEAD, reply("x" * 400, usage=usage))) as client:
        await ask(client)
    assert bill.tokens["completion"] == 100
    assert bill.tokens["prompt"] >= PROMPT


def ticking(*times: float) -> Callable[[], float]:
    return iter(times).__next__


def test_a_request_that_was_never_sent_costs_nothing() -> None:
    meter = Meter(100)
    assert meter.tokens == {"prompt": 0, "completion": 0}


def test_a_report_of_nothing_is_no_report() -> None:
    meter = Meter(100)
    meter.sent()
    usage = {"prompt_tokens": 0, "completion_tokens": 0}
    meter.reply({"choices": [{"message": {"content": "x" * 40}}], "usage": usage})
    assert meter.tokens == {"prompt": 100, "completion": 10}


def test_time_counts_until_the_first_word() -> None:
    meter = Meter(100, clock=ticking(0.0, 2.0))
    meter.sent()
    meter.chunk({"choices": [{"delta": {"role": "assistant"}}]})
    meter.chunk({"choices": [{"delta": {"reasoning": "x" * 40}}]})
    meter.chunk({"choices": [{"delta": {"content": "x" * 40}}]})
    assert meter.tokens == {"prompt": 100, "completion": 2 * TOKENS_PER_SECOND + 20}


@pytest.mark.parametrize(
    ("part", "least", "most"),
    [
        ({"type": "image_url", "image_url": {"url": "data:," + "x" * 4_000_000}}, 1500, 1600),
        ({"type": "input_audio", "input_audio": {"data": "x" * 400_000}}, 200, 300),
        ({"type": "text", "text": "data:," + "x" * 400_000}, 100_000, 100_100),
        ({"type": "file", "file": {"file_data": "data:," + "x" * 400_000}}, 100_000, 100_100),
    ],
)
def test_a_picture_is_not_counted_by_its_letters(
    part: dict[str, Any], least: int, most: int
) -> None:
    body = {"messages": [{"role": "user", "content": [part]}, {"role": "user", "content": "Hi"}]}
    assert least <= prompt_tokens(body, json.dumps(body).encode()) <= most
