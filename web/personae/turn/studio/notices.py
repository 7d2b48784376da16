"""What agents say beside their results: toasts, log entries, console lines.

Invariants: what is shown to the user is plain text (``unicode.plain``) of a bounded length and
comes with the agent's and the character's name, which the agent has no part in; a character's
toasts come at a bounded rate, and what is dropped is named in the agent's activity log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from personae.package.model import AgentProgram
from personae.storage.belongings import Belongings
from personae.turn.room import Room
from personae.turn.streaming import SAVE_AFTER, Later
from personae.unicode import plain, plain_line

TOAST_LENGTH = 300
"""Characters."""
MOST_TOASTS = 5
TOAST_SPAN = 10_000
"""Milliseconds in which a character's agents may show ``MOST_TOASTS``."""
NAME_LENGTH = 60


class Notices:
    """For one seat."""

    def __init__(self, room: Room, belongings: Belongings, character: str) -> None:
        self._room = room
        self._belongings = belongings
        self._character = plain_line(character, NAME_LENGTH)
        self._save = Later(room.clock, SAVE_AFTER, room.journal.save)
        self._toasts: deque[float] = deque(maxlen=MOST_TOASTS)
        self._kinds: dict[str, Callable[[AgentProgram, str], None]] = {
            "toast": self._toast,
            "log": self._entry,
        }

    def take(self, program: AgentProgram, kind: str, text: str) -> None:
        """``kind``: toast, log (an audit entry of the conversation), console or error."""
        show = self._kinds.get(kind)
        if show is None:
            self._log(program, kind, text)
        else:
            show(program, text)

    def _toast(self, program: AgentProgram, text: str) -> None:
        now = self._room.clock.monotonic()
        if len(self._toasts) == MOST_TOASTS and now - self._toasts[0] < TOAST_SPAN:
            self._log(program, "error", f"studio.toast: too many at once, dropped: {text}")
            return
        self._toasts.append(now)
        line = plain_line(text, TOAST_LENGTH)
        self._room.events.emit("agentToast", line, self._who(program))

    def _entry(self, program: AgentProgram, text: str) -> None:
        text = plain(text)
        self._room.journal.append(
            "log", text, agent_id=program.agent_id, member=self._belongings.scope
        )
        self._room.events.emit("agentLog", text, self._who(program))
        self._save.poke()  # most often the call's end is sooner

    def _log(self, program: AgentProgram, kind: str, text: str) -> None:
        self._room.log.add(self._belongings.owner(program.agent_id), program, kind, text)

    def _who(self, program: AgentProgram) -> dict[str, str]:
        return {"agentId": program.agent_id, "characterName": self._character}
