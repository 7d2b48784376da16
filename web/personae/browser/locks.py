"""Locks across tabs: one of them writes a conversation at a time (``web/host/locks.js``)."""

from __future__ import annotations

from typing import Any

import personae_host


class Lease:
    """A lock that this tab holds until ``release``; the browser releases it with the tab."""

    def __init__(self, release: Any) -> None:
        self._release = release

    def release(self) -> None:
        self._release()


async def try_lock(name: str) -> Lease | None:
    """The lock when it is free, else None."""
    release = await personae_host.tryLock(name)
    return Lease(release) if release else None
