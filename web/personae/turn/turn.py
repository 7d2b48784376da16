"""One turn: one member's answer with its tool chain, and the hooks around it.

Reference: The broker loop; Hook events. Order: beforeResponse; the preload context, if stale; the
broker loop; the response is delivered; afterResponse; the preload context for the next request. A
stop or an error ends the loop, keeps what there is, and goes on with afterResponse; a response
that produced nothing runs no hooks.
"""

from __future__ import annotations

import contextlib

from personae.conversation.changes import AgentsChanged
from personae.conversation.entries import Entry
from personae.errors import PersonaeError
from personae.turn.broker import run_broker
from personae.turn.done import Done
from personae.turn.seat import Seat
from personae.turn.stop import Stopped


async def run_turn(seat: Seat, cause: Entry, *, regenerate: bool) -> Done:
    """A member's answer to an entry, stored and delivered; ``follow_up`` comes after it."""
    room = seat.room
    done = Done(cause, tools_offered=len(seat.tools) > 0)
    room.meter.begin_response()
    stopper = room.stopping.renew()
    try:
        await stopper.run(_prepare(seat, done, regenerate))
        await run_broker(seat, done, stopper)
    except Stopped:
        done.stopped = True
    except PersonaeError as error:
        done.stopped, done.error = True, error
    _deliver(seat, done)
    return done


async def follow_up(seat: Seat, done: Done) -> None:
    """The hooks after a turn, and what the next request needs."""
    seat.preload.stale = True
    with contextlib.suppress(Stopped):
        await seat.room.stopping.renew().run(_follow_up(seat, done))
    seat.room.events.change(AgentsChanged())  # they are at rest


async def _prepare(seat: Seat, done: Done, regenerate: bool) -> None:
    await seat.catch_up()
    if seat.registry.hooked("beforeResponse"):
        seat.room.display.show("hooks")
    if await seat.hooks.before_response(done.cause.content, regenerate=regenerate):
        seat.preload.stale = True
    await seat.catch_up()
    await seat.keep_up()


def _deliver(seat: Seat, done: Done) -> None:
    events = seat.room.events
    if done.error is not None:
        events.emit("error", done.error)
    elif done.produced:
        events.emit("message", done.reply())


async def _follow_up(seat: Seat, done: Done) -> None:
    if done.produced:
        if seat.registry.hooked("afterResponse"):
            seat.room.display.show("hooks")
        await seat.hooks.after_response(done.event())
    if not seat.room.stopping.left:
        await seat.catch_up()
