"""Stopping what works on an open conversation, at any moment.

Invariant: only the work handed to ``Stopper.run`` is cancelled; what keeps its outcome (saving the
part that was streamed, writing stub results) runs outside and is never cut off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
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


@dataclass(slots=True)
class Answering:
    """The user waits for an answer, from the moment it is asked for until it was delivered."""

    stopped: bool = False
    """Whether the user has stopped it, be it before any turn began."""


class Stopping:
    """What a Stop reaches in one conversation, and whether the user has gone elsewhere."""

    def __init__(self) -> None:
        self.answering: Answering | None = None
        self.left = False
        """Whether the user has gone to another conversation."""
        self._ended = False
        self._stopper = Stopper()

    def renew(self) -> Stopper:
        """The one that ``stop`` reaches from now on."""
        self._stopper = Stopper()
        if self._ended or (self.answering is not None and self.answering.stopped):
            self._stopper.stop()
        return self._stopper

    def stop(self) -> None:
        if self.answering is not None:
            self.answering.stopped = True
        self._stopper.stop()

    def leave(self) -> None:
        """The user goes elsewhere: what runs is stopped, its hooks still run."""
        self.left = True
        self.stop()

    def end(self) -> None:
        """Nothing of this conversation runs any more, hooks neither."""
        self._ended = True
        self.leave()
