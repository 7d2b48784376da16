"""When conversations changed, so that the one that changed last comes first.

Invariant: whatever the wall clock does, the conversation that changes now is the newest of those
that are known here. Times are milliseconds since the epoch, or a little more.
"""

from __future__ import annotations

from collections.abc import Iterable

from personae.ports import Clock
from personae.storage.head import Head


class Recency:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._newest_id = ""
        self._time = 0

    def know(self, heads: Iterable[Head]) -> None:
        """Takes note of conversations as they are stored."""
        for head in heads:
            if head.updated_at > self._time:
                self._newest_id, self._time = head.id, head.updated_at

    def touch(self, head: Head) -> None:
        """The conversation changes now."""
        least = self._time if head.id == self._newest_id else self._time + 1
        head.updated_at = max(head.updated_at, self._clock.now(), least)
        self._newest_id, self._time = head.id, head.updated_at
