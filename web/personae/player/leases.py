"""A lock on a conversation, as whoever writes it holds it."""

from __future__ import annotations

from typing import Protocol


class Lease(Protocol):
    """A lock that is held until it is released."""

    def release(self) -> None: ...
