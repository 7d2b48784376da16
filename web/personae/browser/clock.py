"""Time in the browser."""

from __future__ import annotations

import asyncio
import time

SHORTEST = 1e-6
"""Seconds; the browser takes it for a task of its own."""


class BrowserClock:
    """ports.Clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.perf_counter() * 1000

    async def sleep(self, milliseconds: float) -> None:
        # None at all would not let the browser have its turn, see ``loop``.
        await asyncio.sleep(max(milliseconds / 1000, SHORTEST))
