"""ports.ModelTransport and ports.Clock on CPython, for tests over real HTTP."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from types import TracebackType

import httpx
from personae.errors import ModelError
from personae.ports import HttpRequest


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic() * 1000

    async def sleep(self, milliseconds: float) -> None:
        await asyncio.sleep(milliseconds / 1000)


class HttpxTransport:
    """Used with ``async with``, which closes its connections."""

    def __init__(self) -> None:
        self._client = httpx.AsyncClient(timeout=None, trust_env=False)

    async def __aenter__(self) -> HttpxTransport:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def open(self, request: HttpRequest) -> HttpxResponse:
        built = self._client.build_request(
            request.method, request.url, headers=dict(request.headers), content=request.body
        )
        try:
            return HttpxResponse(await self._client.send(built, stream=True))
        except httpx.TransportError as error:
            message = f"No answer from {request.url} ({error}). Check the base URL."
            raise ModelError("model_unreachable", message, url=request.url, status=None) from error


class HttpxResponse:
    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)
        self.url = str(response.url)

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for data in self._response.aiter_raw():
                yield data
        except httpx.TransportError as error:
            message = f"The connection to {self.url} broke ({error}). Try again."
            raise ModelError(
                "model_connection_lost", message, url=self.url, status=self.status
            ) from error

    async def close(self) -> None:
        await self._response.aclose()
