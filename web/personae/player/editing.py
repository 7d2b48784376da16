"""User edits of the open conversation and what follows from them (reference: afterUserEdit).

Invariants: an edit is saved, together with the agents still to be told, before any hook runs; a
response that an edit triggers is requested after the hooks, and not if the user has left; a
response that was to be replaced is there again when not a word came in its place.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from personae.conversation.edits import Edit, position
from personae.conversation.entries import Entry
from personae.conversation.turns import last_message
from personae.errors import UsageError
from personae.player.exchange import run_exchange
from personae.player.session import Session
from personae.player.undoing import Deed
from personae.turn.stop import Stopped


async def revise(session: Session, edit: Edit, deed: Deed) -> None:
    """Applies and saves an edit, then tells the agents."""
    deed.begin(session.journal, edit)
    session.journal.apply(edit, session.told_of_edits())
    await session.journal.save()
    session.room.meter.begin_response()
    await catch_up(session)


async def answer_again(
    session: Session, edit: Edit, deed: Deed, *, regenerate: bool, replaced: Entry | None = None
) -> dict[str, Any]:
    """Applies an edit, then answers in the place of the response that was ``replaced``."""
    try:
        await revise(session, edit, deed)
        if session.left:
            return {"role": "assistant", "content": "", "stopped": True}
        return await answer(session, replaced, regenerate=regenerate)
    finally:
        deed.end(session.journal)
        if regenerate and deed.came_to_nothing():
            deed.take_back(session)
            await session.journal.save()


async def answer(
    session: Session, response: Entry | None, *, regenerate: bool = False
) -> dict[str, Any]:
    """An answer in the place of a response, or as its continuation: by the same member, to the
    same entry; to the last message when there is no response or what it answers is gone."""
    entries = session.journal.entries
    member = session.first_seat.member if response is None else response.member
    seat = session.seats.get(member, session.first_seat)
    return await run_exchange(session, [seat], cause_of(entries, response), regenerate=regenerate)


def cause_of(entries: Sequence[Entry], response: Entry | None) -> Entry:
    """What a response answers. Raises UsageError ``nothing_to_answer``."""
    if response is not None and response.reply_to is not None:
        with contextlib.suppress(UsageError):
            return entries[position(entries, response.reply_to)]
    index = last_message(entries)
    if index is None:
        raise UsageError("nothing_to_answer", "There is no message to answer.")
    return entries[index]


async def undo(session: Session, deed: Deed) -> None:
    """Undoes an edit, saves that, and tells the agents. Raises UsageError ``cannot_undo``."""
    deed.take_back(session)
    await session.journal.save()
    await catch_up(session)


async def catch_up(session: Session) -> None:
    """``Session.catch_up`` that the user can stop; the rest is done before the next turn."""
    with contextlib.suppress(Stopped):
        await session.room.stopping.renew().run(session.catch_up())
