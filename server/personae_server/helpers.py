"""Helper processes for what would hold the server up: hostile pages, large JSON.

Invariants: a client has one helper at a time and waits for it in its own line; waiting takes
nothing from the time that the work may take; a helper has a ceiling of memory; one that takes
too long is killed, and whatever goes wrong in it is one error here.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import TypeVar, TypeVarTuple

import anyio
from anyio import CapacityLimiter
from anyio.to_process import run_sync

from personae_server.errors import HttpError
from personae_server.turns import Turns

TOTAL, LINE = 2, 32
MEMORY = 2 * 2**30
"""Bytes of address space; what a helper loads takes a quarter of it."""

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")

log = logging.getLogger(__name__)


class HelperFailed(Exception):
    """The work was not done: too slow, too large, or an error that nobody foresaw."""


class Helpers:
    """The helpers of one purpose."""

    def __init__(self) -> None:
        self._turns = Turns(1, TOTAL, LINE)
        self._limiter = CapacityLimiter(TOTAL)

    async def run(
        self,
        client: str,
        seconds: float,
        work: Callable[[*Arguments], Result],
        *arguments: *Arguments,
    ) -> Result:
        """``work(*arguments)``, done in a helper; both have to be picklable.

        Raises HttpError (what ``work`` raises, and too_many_streams) and HelperFailed.
        """
        async with self._turns.take(client):
            try:
                with anyio.fail_after(seconds):
                    return await run_sync(
                        _confined, work, arguments, cancellable=True, limiter=self._limiter
                    )
            except HttpError:
                raise
            except Exception as error:
                log.warning("a helper failed: %s", type(error).__name__)
                raise HelperFailed from error


def _confined(work: Callable[[*Arguments], Result], arguments: tuple[*Arguments]) -> Result:
    if sys.platform != "win32":
        import resource

        ceiling, most = resource.getrlimit(resource.RLIMIT_AS)
        if ceiling != MEMORY:  # not done yet: a helper is used again
            limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
            resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    return work(*arguments)
