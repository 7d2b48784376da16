"""Locks across tabs, as whoever holds one sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

from personae.errors import StorageError
from personae.ports import Clock

FILES = "personae:files"
"""Held by whoever writes or removes package files: each content is stored once, so one must not
rely on what another removes."""
POLL = 100
"""Milliseconds between two tries."""
TRIES = 50


class Lease(Protocol):
    """A lock that is held until it is released."""

    def release(self) -> None: ...


Lock = Callable[[str], Awaitable[Lease | None]]
"""Takes the named lock if it is free; None: another tab holds it."""


@asynccontextmanager
async def files_alone(lock: Lock, clock: Clock) -> AsyncIterator[None]:
    """While nobody else writes or removes package files. Raises StorageError ``files_busy``."""
    for _ in range(TRIES):
        lease = await lock(FILES)
        if lease is not None:
            break
        await clock.sleep(POLL)
    else:
        raise StorageError("files_busy", "Another tab is saving a character. Try again soon.")
    try:
        yield
    finally:
        lease.release()
