"""Locks across tabs, as whoever holds one sees it."""

from __future__ import annotations

import asyncio
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


async def ask_for(lock: Lock, name: str) -> Lease | None:
    """As ``lock``; one that comes when its asker has been cancelled is given back."""
    asking = asyncio.ensure_future(lock(name))
    try:
        return await asyncio.shield(asking)
    except asyncio.CancelledError:
        asking.add_done_callback(_give_back)
        raise


def _give_back(asking: asyncio.Future[Lease | None]) -> None:
    if asking.cancelled() or asking.exception() is not None:
        return
    lease = asking.result()
    if lease is not None:
        lease.release()


@asynccontextmanager
async def files_alone(lock: Lock, clock: Clock) -> AsyncIterator[None]:
    """While nobody else writes or removes package files. Raises StorageError ``files_busy``."""
    for _ in range(TRIES):
        lease = await ask_for(lock, FILES)
        if lease is not None:
            break
        await clock.sleep(POLL)
    else:
        raise StorageError("files_busy", "Another tab is saving a character. Try again soon.")
    try:
        yield
    finally:
        lease.release()
