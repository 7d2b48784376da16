"""Work cut into steps, so that one implementation serves the page and the command line.

A step function is a generator: it yields often (a step is meant to take a few milliseconds) and
returns its result. ``run`` exhausts it; ``run_async`` gives the event loop its turn whenever a
slice of time is used up, so that a page stays responsive while a package loads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

Step = tuple[str, int, int]
"""What is being done, and how much of how much is done (bytes or files)."""

Steps = Generator[Step, None, T]

Progress = Callable[[str, int, int], None]
"""Called with the parts of a ``Step``."""

SLICE_SECONDS = 0.010


def run(steps: Steps[T]) -> T:
    """Runs all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


async def run_async(steps: Steps[T], progress: Progress | None = None) -> T:
    """Runs the steps in slices of ``SLICE_SECONDS``; ``progress`` is called once a slice."""
    slice_start = perf_counter()
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if perf_counter() - slice_start < SLICE_SECONDS:
            continue
        if progress is not None:
            progress(*step)
        await asyncio.sleep(0)
        slice_start = perf_counter()
