"""Pyodide's event loop, with what is ready run together.

Pyodide gives every callback a task of the browser, which puts others in between: drawing, messages,
timers. A step of the player takes dozens of callbacks and waited more than it ran. Here callbacks
run as in any asyncio loop, in the order they became ready, until none is left or it is the
browser's turn.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextvars import Context
from typing import Any

TURN = 0.005
"""Seconds after which the browser has its turn; the callback that is running ends first."""


def run_ready_together(loop: Any) -> None:
    """Changes a ``pyodide.webloop.WebLoop`` in place."""
    ready: deque[asyncio.Handle] = deque()
    call_later = loop.call_later
    due = False

    def call_soon(
        callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, loop, context=context)
        ready.append(handle)
        ask_for_turn()
        return handle

    def ask_for_turn() -> None:
        nonlocal due
        if not due:
            due = True
            call_later(0, run)

    def run() -> None:
        nonlocal due
        end = time.monotonic() + TURN
        try:
            while ready:
                handle = ready.popleft()
                if not handle.cancelled():
                    handle._run()
                if time.monotonic() >= end:
                    break
        finally:
            due = False
            if ready:
                ask_for_turn()

    loop.call_soon = call_soon
