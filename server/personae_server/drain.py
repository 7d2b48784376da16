"""Ending streams when the process is told to stop.

After SIGTERM or SIGINT uvicorn takes no new connection and waits for the open ones. Streams may
go on for the grace period; then each is ended by whoever sends it, in its own protocol's way.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import FrameType

from personae_server.errors import HttpError
from personae_server.streaming import Chunks


class Drain:
    def __init__(self, grace: float) -> None:
        self.grace = grace
        self.over = asyncio.Event()
        """Set once no stream may go on."""

    @contextmanager
    def watching_signals(self) -> Iterator[None]:
        """Listens in on the stop signals; whoever handles them already still does."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

        def stop(number: int, frame: FrameType | None) -> None:
            loop.call_soon_threadsafe(loop.call_later, self.grace, self.over.set)
            handler = handlers[signal.Signals(number)]
            assert callable(handler)
            handler(number, frame)

        watched = [number for number, handler in handlers.items() if callable(handler)]
        for number in watched:
            signal.signal(number, stop)
        try:
            yield
        finally:
            for number in watched:
                signal.signal(number, handlers[number])

    async def until_over(self, chunks: AsyncIterator[bytes]) -> Chunks:
        """``chunks`` for as long as streams may go on. Raises HttpError: shutting_down."""
        over = asyncio.ensure_future(self.over.wait())
        following: asyncio.Future[bytes] | None = None
        try:
            while True:
                following = asyncio.ensure_future(anext(chunks))
                await asyncio.wait({following, over}, return_when=asyncio.FIRST_COMPLETED)
                if not following.done():
                    message = "This server is shutting down: send the request again."
                    raise HttpError(503, "shutting_down", message, {"Retry-After": "5"})
                try:
                    chunk = following.result()
                except StopAsyncIteration:
                    return
                yield chunk
        finally:
            pending = [task for task in (over, following) if task is not None]
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
