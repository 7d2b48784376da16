"""Pyodide's event loop, with what is ready run together and at once.

Pyodide gives every callback a task of the browser, which puts others in between: drawing, messages,
timers. A step of the player takes dozens of callbacks and waited more than it ran. Here callbacks
run as in any asyncio loop, in the order they became ready: in a microtask, so right after what made
them ready, until none is left or it is the browser's turn.
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
BREATH = 0.001
"""Seconds without a callback in which the browser must have run something else."""

Ask = Callable[[], Any]


def run_ready_together(loop: Any, microtask: Callable[[Callable[[], None]], Ask]) -> None:
    """Changes a ``pyodide.webloop.WebLoop`` in place.

    ``microtask(function)`` makes what asks the browser to run ``function`` as a microtask.
    """
    ready: deque[asyncio.Handle] = deque()
    call_later = loop.call_later
    due = False
    end = last = 0.0

    def call_soon(
        callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        handle = asyncio.Handle(callback, args, loop, context=context)
        ready.append(handle)
        ask_for_turn()
        return handle

    def ask_for_turn() -> None:
        nonlocal due, end
        if due:
            return
        due = True
        now = time.monotonic()
        if now >= last + BREATH:
            end = now + TURN
        if now < end:
            ask_for_microtask()
        else:
            call_later(0, run_in_task)

    def run_in_task() -> None:
        nonlocal end
        end = time.monotonic() + TURN
        run()

    def run() -> None:
        nonlocal due, last
        try:
            while ready:
                handle = ready.popleft()
                if not handle.cancelled():
                    handle._run()
                if time.monotonic() >= end:
                    break
        finally:
            due, last = False, time.monotonic()
            if ready:
                ask_for_turn()

    ask_for_microtask = microtask(run)
    loop.call_soon = call_soon
