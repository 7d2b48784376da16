"""User edits of the open conversation and what follows from them (reference: afterUserEdit).

Invariants: an edit is saved, together with the agents still to be told, before any hook runs; a
response that an edit triggers is requested after the hooks, and not if the user has left.
"""

from __future__ import annotations

import contextlib
from typing import Any

from personae.conversation.edits import Edit, last_user
from personae.player.session import Session
from personae.turn.stop import Stopped
from personae.turn.turn import run_turn


async def revise(session: Session, edit: Edit) -> None:
    """Applies and saves an edit, then tells the agents."""
    session.journal.apply(edit, session.hooks.told_of_edits())
    await session.journal.save()
    session.meter.begin_response()
    await settle(session)


async def answer(session: Session, edit: Edit, *, regenerate: bool) -> dict[str, Any]:
    """Applies an edit, then answers the last user message."""
    await revise(session, edit)
    index = last_user(session.journal.entries)
    if session.left or index is None:
        return {"role": "assistant", "content": "", "stopped": True}
    return await run_turn(session, session.journal.entries[index].content, regenerate=regenerate)


async def settle(session: Session) -> None:
    """``Session.settle`` that the user can stop; what was not done is done before the next turn."""
    with contextlib.suppress(Stopped):
        await session.renew_stopper().run(session.settle())
