"""The transcript as rows: which entries are drawn, and what belongs together. Pure.

A tool entry has no row of its own: it is the result of a call in the assistant entry before it.
A log entry has a row, and does not end the speaker's turn. A response is one message, whatever
rounds and continuations it is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from personae.conversation.entries import Entry
from personae.conversation.turns import belong_together
from personae.package.steps import Steps

INTRO = "intro"
_EACH = 50
"""Entries taken in one step."""


@dataclass(slots=True)
class Row:
    key: str
    kind: Literal["intro", "message", "log"]
    entry: Entry | None = None
    continues: bool = False
    """The same speaker goes on: no name above it."""
    results: dict[str, Entry] = field(default_factory=dict)
    """Tool entries by the call's id."""

    @property
    def bare(self) -> bool:
        """Only tool activity: neither speech nor reasoning."""
        entry = self.entry
        return (
            entry is not None
            and entry.role == "assistant"
            and bool(entry.tool_calls)
            and not entry.content.strip()
        )

    def guess_height(self, columns: int) -> float:
        """Pixels, before it has been drawn; ``columns`` characters fit on a line."""
        if self.entry is None:
            return 420.0
        if self.kind == "log":
            return 32.0 + 19.0 * (len(self.entry.content) // max(1, columns))
        text = self.entry.content
        lines = text.count("\n") + len(text) / max(1, columns) + 1
        return (
            (40.0 if self.continues else 72.0) + 27.0 * lines + 34.0 * bool(self.entry.tool_calls)
        )


class Rows:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self._at: dict[str, int] = {}
        self._last_message: Row | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, entries: Sequence[Entry], columns: int) -> Steps[list[float]]:
        """The intro and all entries, in steps; their guessed heights. ``entries`` may grow."""
        self._append(Row(INTRO, "intro"))
        guesses: list[float] = []
        taken = 0
        while taken < len(entries):
            for entry in entries[taken : taken + _EACH]:
                self.add(entry)
            taken = min(taken + _EACH, len(entries))
            guesses += [row.guess_height(columns) for row in self.rows[len(guesses) :]]
            yield "drawing", taken, len(entries)
        guesses += [row.guess_height(columns) for row in self.rows[len(guesses) :]]
        return guesses

    def add(self, entry: Entry) -> int:
        """Takes a new entry in; returns the row that is new or has changed, -1 for none."""
        if entry.role == "tool":
            return self._attach(entry)
        if entry.role in ("log", "summary"):
            return self._append(Row(entry.id, "log", entry))
        before = self._last_message.entry if self._last_message else None
        row = Row(entry.id, "message", entry, before is not None and belong_together(before, entry))
        self._last_message = row
        return self._append(row)

    def update(self, entry: Entry) -> int:
        """Takes a changed entry in; returns the row that has changed, -1 for none."""
        if entry.role == "tool":
            return self._attach(entry)
        at = self._at.get(entry.id, -1)
        if at >= 0:
            self.rows[at].entry = entry
        return at

    def index(self, key: str) -> int:
        """The row of an entry; -1 when it has none."""
        return self._at.get(key, -1)

    def last_message(self) -> int:
        """The row of the last user or assistant entry, -1 when there is none."""
        return self._at[self._last_message.key] if self._last_message else -1

    def _append(self, row: Row) -> int:
        self._at[row.key] = len(self.rows)
        self.rows.append(row)
        return len(self.rows) - 1

    def _attach(self, entry: Entry) -> int:
        row = self._last_message
        if row is None or entry.tool_call_id is None:
            return -1
        row.results[entry.tool_call_id] = entry
        return self._at[row.key]
