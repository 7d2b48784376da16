"""Limits on the head of another server's answer, which the HTTP library does not set.

Invariant: until the final answer's head is whole, at most ``MAX_HEAD`` bytes are read, interim
(1xx) answers and all their headers included, in pieces so small that whatever they hold is
parsed in a moment.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

MAX_HEAD = 32 * 1024
PIECE = 1024


def limit_heads(client: httpx.AsyncClient) -> None:
    """Puts the limits on every connection that ``client`` opens from now on."""
    transport = client._transport
    assert isinstance(transport, httpx.AsyncHTTPTransport)
    pool = transport._pool
    pool._network_backend = _Backend(pool._network_backend)


def head_is_over(response: httpx.Response) -> None:
    """Says that what follows is the body, which has a limit of its own."""
    stream = response.extensions["network_stream"]
    if isinstance(stream, _Stream):
        stream.left = None


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, backend: httpcore.AsyncNetworkBackend) -> None:
        self._backend = backend

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's interface
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(
            await self._backend.connect_tcp(host, port, timeout, local_address, socket_options)
        )

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


class _Stream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self.left: int | None = MAX_HEAD
        """Bytes that the head may still have; None in the body."""

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> bytes:
        if self.left is None:
            return await self._stream.read(max_bytes, timeout)
        if self.left <= 0:
            raise httpcore.RemoteProtocolError(f"the answer's head is over {MAX_HEAD} bytes")
        data = await self._stream.read(min(max_bytes, PIECE), timeout)
        self.left -= len(data)
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> None:
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        return _Stream(await self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
