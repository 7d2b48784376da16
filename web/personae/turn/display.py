"""What the app shows of a conversation's work: what a turn is doing, and that an answer is awaited.

Invariant: only what differs from before is told.
"""

from __future__ import annotations

from typing import Any

from personae.events import Events


class Display:
    def __init__(self, events: Events) -> None:
        self._events = events
        self.turn: dict[str, Any] = {"state": "idle", "detail": "", "seconds": None}

    def show(self, state: str, detail: str = "", seconds: float | None = None) -> None:
        """Tells the app what the turn is doing."""
        turn = {"state": state, "detail": detail, "seconds": seconds}
        if turn != self.turn:
            self.turn = turn
            self._events.change("turn", turn=turn)

    def answering(self, value: bool) -> None:
        """Tells the app that an answer is awaited, or no longer."""
        self._events.change("answering", value=value)
