"""Time in the browser."""

from __future__ import annotations

import asyncio
import time


class BrowserClock:
    """ports.Clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.perf_counter() * 1000

    async def sleep(self, milliseconds: float) -> None:
        await asyncio.sleep(milliseconds / 1000)
