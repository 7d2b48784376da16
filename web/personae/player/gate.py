"""Who may change the open conversation, and when.

Invariants: what changes a conversation waits for what changes it already, also for the hooks after
a response; a second response while one is under way is refused, not queued; nothing changes a
conversation that another tab holds or that was left meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from personae.errors import UsageError
from personae.player.session import Session

Reply = dict[str, Any]


def check_free(session: Session) -> None:
    """Raises UsageError ``read_only`` or ``busy``."""
    session.check_writable()
    if session.answering:
        raise UsageError("busy", "A response is under way. Stop it or wait for its end.")


@asynccontextmanager
async def gate(session: Session) -> AsyncIterator[None]:
    """Waits until nothing else changes the session. Raises UsageError ``conversation_left``."""
    async with session.gate:
        if session.left:
            raise UsageError("conversation_left", "Another conversation was opened meanwhile.")
        try:
            yield
        finally:
            session.show("idle")


async def respond(session: Session, work: Callable[[Session], Awaitable[Reply]]) -> Reply:
    """Runs what brings a response; a caller that is cancelled stops it."""
    check_free(session)
    response = session.begin_response()

    async def run() -> Reply:
        try:
            async with gate(session):
                return await work(session)
        finally:
            if session.response is response:
                session.end_response()

    task = asyncio.ensure_future(run())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        session.stop()
        # Nobody is left to hear of a failure.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise
