"""User edits of the open conversation and what follows from them (reference: afterUserEdit).

Invariants: an edit is saved, together with the agents still to be told, before any hook runs; a
response that an edit triggers is requested after the hooks, and not if the user has left.
"""

from __future__ import annotations

import contextlib
from typing import Any

from personae.conversation.edits import Edit
from personae.conversation.turns import last_message
from personae.player.exchange import run_exchange
from personae.player.session import Session
from personae.turn.stop import Stopped


async def revise(session: Session, edit: Edit) -> None:
    """Applies and saves an edit, then tells the agents."""
    session.journal.apply(edit, session.told_of_edits())
    await session.journal.save()
    session.room.meter.begin_response()
    await catch_up(session)


async def answer_again(session: Session, edit: Edit, *, regenerate: bool) -> dict[str, Any]:
    """Applies an edit, then answers the last user message."""
    await revise(session, edit)
    entries = session.journal.entries
    index = last_message(entries)
    if session.left or index is None:
        return {"role": "assistant", "content": "", "stopped": True}
    queue = [session.first_seat]
    return await run_exchange(session, queue, entries[index], regenerate=regenerate)


async def catch_up(session: Session) -> None:
    """``Session.catch_up`` that the user can stop; the rest is done before the next turn."""
    with contextlib.suppress(Stopped):
        await session.room.stopping.renew().run(session.catch_up())
