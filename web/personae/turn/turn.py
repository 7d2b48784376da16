"""One turn: what the user said, the response with its tool chain, and the hooks around it.

Reference: The broker loop; Hook events. Order: the user's entry is stored; beforeResponse; the
preload context, if stale; the broker loop; the response is delivered; afterResponse; the preload
context for the next request. A stop or an error ends the loop, keeps what there is, and goes on
with afterResponse; a response that produced nothing runs no hooks.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from personae.conversation.entries import Entry
from personae.errors import PersonaeError
from personae.turn.broker import Broker
from personae.turn.stop import Stopped

if TYPE_CHECKING:
    from personae.player.session import Session


@dataclass(slots=True)
class Turn:
    """What happens in one turn, as afterResponse reports it."""

    user_text: str
    tools_offered: bool
    texts: list[str] = field(default_factory=list)
    """What each round said."""
    calls: list[dict[str, Any]] = field(default_factory=list)
    """The calls that reached an agent: ``{name, args, result, toolCallId}``."""
    produced: bool = False
    stopped: bool = False
    error: PersonaeError | None = None

    def add(self, entry: Entry) -> None:
        self.produced = True
        if entry.content:
            self.texts.append(entry.content)

    @property
    def text(self) -> str:
        """The final response: what the last round that said something said."""
        return self.texts[-1] if self.texts else ""

    def event(self) -> dict[str, Any]:
        return {
            "userText": self.user_text,
            "responseText": self.text,
            "toolCalls": self.calls,
            "stopped": self.stopped,
            "toolsOffered": self.tools_offered,
        }

    def reply(self) -> dict[str, Any]:
        reply: dict[str, Any] = {"role": "assistant", "content": self.text}
        return {**reply, "stopped": True} if self.stopped else reply


async def run_turn(session: Session, user_text: str, *, regenerate: bool) -> dict[str, Any]:
    """Answers the conversation's last user message. Raises ModelError and its kin."""
    turn = Turn(user_text, bool(session.registry.tools))
    session.meter.begin_response()
    stopper = session.renew_stopper()
    try:
        await stopper.run(_prepare(session, turn, regenerate))
        await Broker(session, turn, stopper).respond()
    except Stopped:
        turn.stopped = True
    except PersonaeError as error:
        turn.stopped, turn.error = True, error
    await _deliver(session, turn)
    if turn.error is not None:
        raise turn.error
    return turn.reply()


async def _prepare(session: Session, turn: Turn, regenerate: bool) -> None:
    await session.settle()
    if session.registry.hooked("beforeResponse"):
        session.show("hooks")
    if await session.hooks.before_response(turn.user_text, regenerate=regenerate):
        session.preload.stale = True
    await session.settle()
    await session.keep_up()


async def _deliver(session: Session, turn: Turn) -> None:
    if turn.error is not None:
        session.events.emit("error", turn.error)
    elif turn.produced:
        session.events.emit("message", turn.reply())
    session.end_response()
    session.preload.stale = True
    with contextlib.suppress(Stopped):
        await session.renew_stopper().run(_follow_up(session, turn))


async def _follow_up(session: Session, turn: Turn) -> None:
    if turn.produced:
        if session.registry.hooked("afterResponse"):
            session.show("hooks")
        await session.hooks.after_response(turn.event())
    if not session.left:
        await session.settle()
