"""Passing a body on while it arrives, for as long as the client stays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import suppress
from typing import Any

from starlette.types import Receive, Send

Chunks = AsyncGenerator[bytes, None]
"""A body that may have to be given up half-way: close it."""

STALLED_CLIENT_SECONDS = 60.0


async def while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Runs ``work``; cancels it as soon as the client is gone, so upstreams are let go."""
    working = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            working.cancel()
        with suppress(asyncio.CancelledError):
            await working
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def send_start(send: Send, status: int, headers: dict[str, str]) -> None:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def send_chunks(send: Send, chunks: AsyncIterator[bytes]) -> None:
    """Sends every chunk, then the end. Raises TimeoutError when the client takes none of it."""
    async for chunk in chunks:
        async with asyncio.timeout(STALLED_CLIENT_SECONDS):
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
