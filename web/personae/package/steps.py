"""Work cut into steps, so that one implementation serves the page and the command line.

A step function is a generator: it yields often (a step is meant to take a few milliseconds) and
returns its result. ``run`` exhausts it; ``run_async`` gives the event loop its turn whenever a
slice of time is used up, so that a page stays responsive while a package loads.

In a page, a Python package that only some characters need is fetched when it is missed:
``with_python_package`` turns a failed import into a step, and the caller of ``run_async`` knows
how to fetch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from personae.package.report import Report

T = TypeVar("T")

Step = tuple[str, int, int]
"""What is being done, and how much of how much is done (bytes or files)."""


@dataclass(frozen=True, slots=True)
class PythonPackage:
    """A step that waits for a Python package; ``name`` is what failed to import."""

    name: str


Steps = Generator[Step | PythonPackage, None, T]

Progress = Callable[[str, int, int], None]
"""Called with the parts of a ``Step``."""

Install = Callable[[str], Awaitable[None]]
"""Makes the top-level module of that name importable (``jsonschema`` or ``ruamel``)."""

SLICE_SECONDS = 0.010


def run(steps: Steps[T]) -> T:
    """Runs all steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


async def run_async(
    steps: Steps[T], progress: Progress | None = None, install: Install | None = None
) -> T:
    """Runs the steps in slices of ``SLICE_SECONDS``; ``progress`` is called once a slice."""
    slice_start = perf_counter()
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            result: T = end.value
            return result
        if isinstance(step, PythonPackage):
            if install is not None:
                await install(step.name)
            continue
        if perf_counter() - slice_start < SLICE_SECONDS:
            continue
        if progress is not None:
            progress(*step)
        await asyncio.sleep(0)
        slice_start = perf_counter()


def with_python_package(action: Callable[[Report], T], report: Report) -> Steps[T]:
    """The result of ``action``, which is done again once a package that it missed is there.

    It reports to a report of its own, so that nothing is reported twice.
    """
    missed: set[str] = set()
    while True:
        own = Report()
        try:
            result = action(own)
        except ModuleNotFoundError as error:
            name = (error.name or "").partition(".")[0]
            if name in missed:
                raise
            missed.add(name)
            yield PythonPackage(name)
        else:
            report.add(own)
            return result
