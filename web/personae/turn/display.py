"""What the app shows of a conversation's work: what a turn is doing, and that an answer is awaited.

Invariant: only what differs from before is told.
"""

from __future__ import annotations

from personae.conversation.changes import AnsweringChanged, State, TurnChanged, TurnState
from personae.turn.events import Events


class Display:
    def __init__(self, events: Events) -> None:
        self._events = events
        self.turn = TurnState()

    def show(self, state: State, detail: str = "", seconds: float | None = None) -> None:
        """Tells the app what the turn is doing."""
        turn = self.turn
        if state != turn.state or detail != turn.detail or seconds != turn.seconds:
            self.turn = TurnState(state, detail, seconds)
            self._events.change(TurnChanged(self.turn))

    def answering(self, value: bool) -> None:
        """Tells the app that an answer is awaited, or no longer."""
        self._events.change(AnsweringChanged(value))
