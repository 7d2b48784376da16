"""The line that says what the turn is doing, and counts the seconds of what may last."""

from __future__ import annotations

from personae.conversation.changes import TurnState
from personae.ports import Clock
from personae.ui.composer.turn_text import turn_text
from personae.ui.dom.elements import by_id
from personae.ui.dom.tasks import Tasks

_TICK = 1_000
"""Milliseconds."""


class StatusLine:
    def __init__(self, clock: Clock, tasks: Tasks) -> None:
        self._clock, self._tasks = clock, tasks
        self._turn, self._character = TurnState(), ""
        self._entered = 0.0
        """When the turn came into its state."""
        self._answering = self._counting = False

    def show(self, turn: TurnState, character: str, *, answering: bool) -> None:
        if (turn.state, turn.detail) != (self._turn.state, self._turn.detail):
            self._entered = self._clock.monotonic()
        self._turn, self._character, self._answering = turn, character, answering
        self._draw()
        if answering and not self._counting:
            self._counting = True
            self._tasks.start(self._count())

    def clear(self) -> None:
        self.show(TurnState(), "", answering=False)

    async def _count(self) -> None:
        while self._answering:
            await self._clock.sleep(_TICK)
            self._draw()
        self._counting = False

    def _draw(self) -> None:
        elapsed = (self._clock.monotonic() - self._entered) / 1000
        text, status = turn_text(self._turn, self._character, elapsed), by_id("status")
        if status.textContent != text:
            status.textContent = text
