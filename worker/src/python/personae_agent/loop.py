"""An asyncio event loop without an outside: the host runs it whenever something happened."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Any


class AgentLoop(asyncio.BaseEventLoop):
    """Runs what is ready and says when it wants to be run again. There is no input or output."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        super().__init__()
        self._complain = complain

    def run_ready(self) -> float | None:
        """Runs until everything waits; seconds until the next timer is due, None without one."""
        while True:
            self._collect_due()
            if not self._ready:
                break
            handle = self._ready.popleft()
            if not handle.cancelled():
                handle._run()
        return max(0.0, self._scheduled[0].when() - self.time()) if self._scheduled else None

    def forget(self) -> None:
        """Drops every timer and callback of a call that has ended."""
        for task in asyncio.all_tasks(self):
            task.cancel()
        self.run_ready()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._complain(f"{context['message']}: {error!r}" if error else context["message"])

    def _collect_due(self) -> None:
        now = self.time()
        while self._scheduled and (
            self._scheduled[0].cancelled() or self._scheduled[0].when() <= now
        ):
            handle = heapq.heappop(self._scheduled)
            handle._scheduled = False
            if not handle.cancelled():
                self._ready.append(handle)

    def _write_to_self(self) -> None:
        """Nothing to wake: there is one thread and it is running."""
