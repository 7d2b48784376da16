"""Stopping what a player is doing, at any moment.

Invariant: only the work handed to ``run`` is cancelled; what keeps its outcome (saving the part
that was streamed, writing stub results) runs outside and is never cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The user stopped this."""


class Stopper:
    def __init__(self) -> None:
        self.requested = False
        self._task: asyncio.Task[Any] | None = None

    def stop(self) -> None:
        self.requested = True
        if self._task is not None:
            self._task.cancel()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The work's result. Raises Stopped when ``stop`` was called before or meanwhile."""
        if self.requested:
            work.close()
            raise Stopped
        self._task = task = asyncio.ensure_future(work)
        try:
            return await task
        except asyncio.CancelledError:
            if self.requested:
                raise Stopped from None
            raise
        finally:
            self._task = None
