"""An exchange: what one human action brings, from asking to the last turn's hooks.

Invariants: all of it runs under one gate and one Stop; a turn's afterResponse hooks end before the
next turn begins; the answer is delivered, and the user free, when the last turn's text is there;
a turn that fails ends the exchange.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from personae.conversation.entries import Entry
from personae.player.gate import check_free, gate
from personae.player.session import Session
from personae.turn.seat import Seat
from personae.turn.turn import follow_up, run_turn

Reply = dict[str, Any]


async def run_exchange(
    session: Session, queue: Sequence[Seat], cause: Entry, *, regenerate: bool = False
) -> Reply:
    """Lets the seats answer one after the other; the last one's reply.

    Raises ModelError and its kin.
    """
    reply: Reply = {}
    for left, seat in zip(range(len(queue) - 1, -1, -1), queue, strict=True):
        done = await run_turn(seat, cause, regenerate=regenerate)
        if not left or done.error is not None:
            session.room.end_answer()
        await follow_up(seat, done)
        if done.error is not None:
            raise done.error
        reply = done.reply()
    return reply


async def respond(session: Session, work: Callable[[Session], Awaitable[Reply]]) -> Reply:
    """Runs what brings an answer; a caller that is cancelled stops it."""
    check_free(session)
    room = session.room
    answering = room.begin_answer()

    async def run() -> Reply:
        try:
            async with gate(session):
                return await work(session)
        finally:
            if room.stopping.answering is answering:
                room.end_answer()

    task = asyncio.ensure_future(run())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        room.stopping.stop()
        # Nobody is left to hear of a failure.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise
