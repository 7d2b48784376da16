"""One HTTP exchange with a model endpoint, read by a task of its own and watched for silence.

A reader task opens the request and queues what arrives; a watchdog queues ``Silence`` when no
byte has come for a while, and gives up later. Invariants: leaving the ``async with`` block, in
whichever way, ends both tasks and has closed the response before anything else happens; bytes
of any kind, keep-alives included, reset the watchdog.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from types import TracebackType

from personae.errors import ModelError
from personae.llm.provider import faults
from personae.ports import Clock, HttpRequest, HttpResponse, ModelTransport

PATIENCE = 60.0
"""Seconds without a byte after which the wait becomes visible."""
GIVE_UP = 300.0
"""Seconds without a byte after which the request fails."""
END_PATIENCE = 5.0
"""Seconds that the end of the body may take once the reply is known to be finished."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing came for a while. Seconds."""

    lasted: float
    gives_up_in: float


Item = HttpResponse | bytes | Silence


class Exchange:
    """Used with ``async with``; then ``get`` until it returns None."""

    def __init__(self, transport: ModelTransport, clock: Clock, request: HttpRequest) -> None:
        self._transport = transport
        self._clock = clock
        self._request = request
        self._queue: asyncio.Queue[Item | Exception | None] = asyncio.Queue()
        self._heard = clock.monotonic()
        self._ending = False

    async def __aenter__(self) -> Exchange:
        self._reader = asyncio.create_task(self._read())
        self._watchdog = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        reader, watchdog = self._reader, self._watchdog
        # A task that was cancelled leads back here: with it the response would wait for the
        # garbage collector, and what it holds of the browser with it.
        del self._reader, self._watchdog
        reader.cancel()
        watchdog.cancel()
        await asyncio.gather(reader, watchdog, return_exceptions=True)

    async def get(self) -> Item | None:
        """The response when its headers are there, then its bytes; None at the end.

        ``Silence`` may come at any point. Raises ModelError when the connection fails or the
        wait is given up.
        """
        item = await self._queue.get()
        if isinstance(item, ModelError) and self._ending:
            return None
        if isinstance(item, Exception):
            raise item
        return item

    def expect_end(self) -> None:
        """The reply is finished: a lost connection or some silence is the end of the body."""
        if not self._ending:
            self._ending = True
            self._watchdog.cancel()
            self._watchdog = asyncio.create_task(self._watch_end())

    async def _read(self) -> None:
        response: HttpResponse | None = None
        try:
            response = await self._transport.open(self._request)
            self._put(response)
            async for chunk in response.chunks():
                self._put(chunk)
            self._queue.put_nowait(None)
        except Exception as error:
            self._queue.put_nowait(error)
        finally:
            if response is not None:
                await response.close()

    def _put(self, item: HttpResponse | bytes) -> None:
        self._heard = self._clock.monotonic()
        self._queue.put_nowait(item)

    async def _watch(self) -> None:
        while True:
            await self._silence(PATIENCE)
            self._queue.put_nowait(Silence(PATIENCE, GIVE_UP - PATIENCE))
            heard = self._heard
            while self._heard == heard:
                if (left := self._left(GIVE_UP)) <= 0:
                    self._queue.put_nowait(faults.stalled(GIVE_UP))
                    return
                await self._clock.sleep(min(left, PATIENCE * 1000))

    async def _watch_end(self) -> None:
        await self._silence(END_PATIENCE)
        self._queue.put_nowait(None)

    async def _silence(self, seconds: float) -> None:
        """Returns when nothing has come for ``seconds``."""
        while (left := self._left(seconds)) > 0:
            await self._clock.sleep(left)

    def _left(self, seconds: float) -> float:
        """Milliseconds until ``seconds`` have gone by without a byte."""
        return self._heard + seconds * 1000 - self._clock.monotonic()
