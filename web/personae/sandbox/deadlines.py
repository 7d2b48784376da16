"""Watches that what runs in a worker ends in time.

One task watches over all calls of a process: to start and cancel one for each would cost more
than an empty call does. It sleeps to the nearest deadline it knows and looks again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from personae.ports import Clock


class Due(NamedTuple):
    """When what is running has to be done, on the clock's monotonic scale."""

    at: float
    milliseconds: float
    function: str


class DeadlineWatch:
    """``expire`` is called with what is past its deadline, once."""

    def __init__(self, clock: Clock, expire: Callable[[Due], None]) -> None:
        self._clock = clock
        self._expire = expire
        self._due: Due | None = None
        self._task: asyncio.Task[None] | None = None
        self._until = 0.0

    def begin(self, function: str, milliseconds: float) -> None:
        """``function`` starts now; ``expire`` is called unless ``end`` comes in time."""
        due = self._due = Due(self._clock.monotonic() + milliseconds, milliseconds, function)
        if self._task is None or self._task.done() or self._until > due.at:
            self.stop()
            self._until = due.at
            self._task = asyncio.ensure_future(self._watch())

    def end(self) -> None:
        self._due = None

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        """Returns when nothing is due any more."""
        while self._due is not None:
            self._until = self._due.at
            await self._clock.sleep(self._due.at - self._clock.monotonic())
            # A page that was busy gets here late, with the answer perhaps already in its queue.
            await self._clock.sleep(0)
            if self._due is not None and self._clock.monotonic() >= self._due.at:
                self._expire(self._due)
                return
