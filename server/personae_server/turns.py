"""Turns: a client waits for its own things, never for another client's many.

Invariants: a client has at most ``each`` things under way and ``line`` more waiting; whoever waits
for one of the ``total`` places that all share has a place of its own already, so that in that
line every client stands at most ``each`` times.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from personae_server.errors import HttpError


class Turns:
    """At most ``each`` things of one client and ``total`` of all at a time, in this process."""

    def __init__(self, each: int, total: int, line: int) -> None:
        self.each = each
        self.line = line
        self._all = asyncio.Semaphore(total)
        self._lines: dict[str, _Line] = {}

    @asynccontextmanager
    async def take(self, client: str) -> AsyncIterator[None]:
        """Waits for a turn and has it inside. Raises HttpError: too_many_streams."""
        await self.begin(client)
        try:
            yield
        finally:
            self.end(client)

    async def begin(self, client: str) -> None:
        """Waits for a turn, which ``end`` gives back. Raises HttpError: too_many_streams."""
        line = self._lines.setdefault(client, _Line(self.each))
        if line.people >= self.each + self.line:
            message = f"{line.people} requests wait already: wait for one to end."
            raise HttpError(429, "too_many_streams", message, {"Retry-After": "5"})
        line.people += 1
        try:
            await line.places.acquire()
            try:
                await self._all.acquire()
            except BaseException:
                line.places.release()
                raise
        except BaseException:
            self._leave(client)
            raise

    def end(self, client: str) -> None:
        self._all.release()
        self._lines[client].places.release()
        self._leave(client)

    def _leave(self, client: str) -> None:
        self._lines[client].people -= 1
        if not self._lines[client].people:
            del self._lines[client]


class _Line:
    """One client's places, and how many wait for them or have one."""

    def __init__(self, each: int) -> None:
        self.places = asyncio.Semaphore(each)
        self.people = 0
