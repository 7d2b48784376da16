"""What each agent did, for its author (reference: the manifest, @debug). Not what an agent says by
``studio.log``: that is an entry of the conversation.

A record is ``{at, kind, text}``; kind ``call`` adds function, args, result and milliseconds, kind
``error`` marks a failure, others are the agent's own console output. Calls are recorded for agents
that declare @debug; their records are stored with the conversation, the others' are not. Bounded:
the newest ``MOST`` of each agent.
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import Any

from personae.conversation.changes import AgentsChanged, Changed
from personae.conversation.numbers import moment_from
from personae.errors import StorageError
from personae.package.model import AgentProgram
from personae.ports import Clock
from personae.storage.journal import Journal
from personae.storage.records import loads
from personae.written import Written, dumps

MOST = 500
LONGEST_TEXT = 4_000


class ActivityLog:
    def __init__(self, journal: Journal, clock: Clock, changed: Changed) -> None:
        self._journal = journal
        self._clock = clock
        self._changed = changed
        self._lines: dict[str, deque[dict[str, Any]]] = {}
        self._next: dict[str, int] = {}
        for (owner, number), value in journal.logs.items():
            self._restore(owner, number, value)

    def lines(self, owner: str) -> list[dict[str, Any]]:
        """Copies of an agent's records, oldest first; ``owner``: as ``scopes.scoped`` names it."""
        return [dict(line) for line in self._lines.get(owner, ())]

    def add(self, owner: str, program: AgentProgram, kind: str, text: str, **facts: Any) -> None:
        line = {"at": self._clock.now(), "kind": kind, "text": text[:LONGEST_TEXT], **facts}
        self._of(owner).append(line)
        if program.manifest.debug:
            self._store(owner, line)
        self._changed(AgentsChanged())

    def call(
        self,
        owner: str,
        program: AgentProgram,
        function: str,
        arguments: Written,
        result: str | None,
        milliseconds: float,
    ) -> None:
        """Records a call of an agent that declares @debug."""
        if program.manifest.debug:
            facts = {
                "function": function,
                "args": arguments.text[:LONGEST_TEXT],
                "result": None if result is None else result[:LONGEST_TEXT],
                "milliseconds": round(milliseconds, 1),
            }
            self.add(owner, program, "call", function, **facts)

    def _restore(self, owner: str, number: int, value: str | bytes) -> None:
        self._next[owner] = number + 1
        with contextlib.suppress(StorageError, ValueError, OverflowError):
            self._of(owner).append(_line(loads(value)))

    def _of(self, owner: str) -> deque[dict[str, Any]]:
        return self._lines.setdefault(owner, deque(maxlen=MOST))

    def _store(self, owner: str, line: dict[str, Any]) -> None:
        number = self._next.get(owner, 1)
        self._next[owner] = number + 1
        self._journal.put_log(owner, number, dumps(line))
        self._journal.drop_log(owner, number - MOST)


def _line(value: Any) -> dict[str, Any]:
    """A stored record. Raises ValueError for what is none: anybody may have written it."""
    if not isinstance(value, dict):
        raise ValueError("a record is an object")
    if not all(isinstance(value.get(name), str) for name in ("kind", "text")):
        raise ValueError("a record says what it is")
    if not isinstance(value.get("milliseconds", 0), int | float):
        raise ValueError("a record has its time")
    return {**value, "at": moment_from(value.get("at"))}
