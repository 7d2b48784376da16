"""Who may change the open conversation, and when.

Invariants: what changes a conversation waits for what changes it already, also for the hooks after
a response; a second answer while one is awaited is refused, not queued; nothing changes a
conversation that another tab holds or that was left meanwhile.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from personae.errors import UsageError
from personae.player.session import Session


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
            session.room.display.show("idle")
