"""Fakes for the model client: a clock that is told the time, a transport that is told answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from personae.credentials import Credentials
from personae.llm.provider.endpoint import Endpoint
from personae.ports import HttpRequest


def endpoint_of(base_url: str, key: str, model: str) -> Endpoint:
    """An endpoint with the key that was entered for it."""
    return Endpoint(base_url, Credentials().entered(key, base_url), model)


class ManualClock:
    """Time moves when ``advance`` says so; sleepers wake in order."""

    def __init__(self) -> None:
        self._time = 1_700_000_000_000.0
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> int:
        return int(self._time)

    def monotonic(self) -> float:
        return self._time

    async def sleep(self, milliseconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._time + milliseconds, future))
        await future

    async def advance(self, seconds: float) -> None:
        await settle()
        until = self._time + seconds * 1000
        while due := [item for item in self._sleepers if item[0] <= until]:
            moment, future = min(due, key=lambda item: item[0])
            self._sleepers.remove((moment, future))
            self._time = max(self._time, moment)
            if not future.done():
                future.set_result(None)
            await settle()
        self._time = until


async def settle() -> None:
    """Lets every task that can run do so."""
    for _ in range(20):
        await asyncio.sleep(0)


class InstantClock(ManualClock):
    """Short waits take no time at all; long ones (the watchdog's) never end."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, milliseconds: float) -> None:
        if milliseconds >= 60_000:
            await asyncio.Event().wait()
        self.slept.append(milliseconds / 1000)
        await asyncio.sleep(0)


class FakeResponse:
    """Sends its pieces; an exception among them is raised, ``None`` waits for ever."""

    def __init__(
        self,
        pieces: Sequence[bytes | Exception | None] = (),
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        url: str = "https://model.example/v1/chat/completions",
    ) -> None:
        self.status = status
        self.headers = headers or {}
        self.url = url
        self.closed = 0
        self.sent = 0
        self.pieces = pieces

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            if piece is None:
                await asyncio.Event().wait()
            else:
                self.sent += 1
                yield piece
                await asyncio.sleep(0)

    async def close(self) -> None:
        self.closed += 1


class FakeTransport:
    """Answers each request with the next of its answers; an exception is raised by ``open``."""

    def __init__(self, *answers: FakeResponse | Exception) -> None:
        self.requests: list[HttpRequest] = []
        self._answers = list(answers)

    async def open(self, request: HttpRequest) -> FakeResponse:
        self.requests.append(request)
        answer = self._answers.pop(0)
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.body or "null") for request in self.requests]


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "choices": [choice], **more}


def sse(*chunks: Any, done: bool = True) -> bytes:
    lines = [f"data: {json.dumps(item)}\n\n" for item in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def said(text: str) -> FakeResponse:
    return FakeResponse([sse(chunk({"content": text}), chunk(finish="stop"))])


def refused(status: int, message: str = "no", **more: Any) -> FakeResponse:
    headers = more.pop("headers", None)
    body = {"error": {"message": message, **more}}
    return FakeResponse([json.dumps(body).encode()], status, headers)
