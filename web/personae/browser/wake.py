"""What a new interpreter does first."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from functools import partial
from typing import Any

import js
from pyodide.ffi import create_proxy

from personae.browser.loop import Ask, run_ready_together


def wake() -> None:
    """New randomness, for all copies of a snapshot were one; and a prompt event loop."""
    random.seed()
    loop = asyncio.get_event_loop()
    run_ready_together(loop, partial(microtask, loop))


def microtask(loop: Any, function: Callable[[], None]) -> Ask:
    """What asks the browser to run ``function`` in the loop, once what runs now has ended."""

    def run() -> None:
        # As the loop does before each callback of its own.
        loop._install_running_loop()
        loop._install_asyncgen_hooks()
        function()

    return partial(js.queueMicrotask, create_proxy(run))
