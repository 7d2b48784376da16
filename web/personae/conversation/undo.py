"""Taking an edit back: what it removed returns to its place, what it changed is as it was.

Nothing that was said since moves or goes: entries lie in the order of their ids, so what returns
has its place wherever the conversation has got to. What cannot be told apart any more is refused:
something the edit had changed has changed again, or the conversation goes on from the response
that came of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from personae.conversation.edits import Edit, edit_between
from personae.conversation.entries import Entry
from personae.conversation.turns import ASIDE
from personae.errors import UsageError


@dataclass(frozen=True, slots=True)
class Undo:
    """What takes one edit back, whatever the conversation has become meanwhile."""

    removed: tuple[Entry, ...]
    """What the edit removed."""
    changed: tuple[tuple[Entry, Entry], ...]
    """What it changed: as it was, and as the edit left it."""
    brought: tuple[Entry, ...]
    """The response that came of the edit, as it was when it ended."""


def undo_of(before: Sequence[Entry], edit: Edit, brought: Sequence[Entry] = ()) -> Undo:
    """``before``: the entries that were edited; ``brought``: all that came after the edit."""
    was = {entry.id: entry for entry in before}
    return Undo(
        removed=edit.removed,
        changed=tuple((was[entry.id], entry) for entry in edit.changed),
        brought=tuple(entry for entry in brought if entry.role not in ASIDE),
    )


def take_back(entries: Sequence[Entry], undo: Undo) -> Edit:
    """The edit that undoes another. Raises UsageError ``cannot_undo``."""
    now = {entry.id: entry for entry in entries}
    if any(entry.id in now for entry in undo.removed):
        raise cannot_undo("It has been taken back already.")
    if any(now.get(left.id) != left for _, left in undo.changed):
        raise cannot_undo("The message has changed again since.")
    if any(now.get(entry.id, entry) != entry for entry in undo.brought):
        raise cannot_undo("The new reply has been changed since.")
    brought = {entry.id for entry in undo.brought}
    if brought and _goes_on(entries, brought):
        raise cannot_undo("The conversation has gone on from the new reply.")
    was = {left.id: before for before, left in undo.changed}
    kept = [was.get(entry.id, entry) for entry in entries if entry.id not in brought]
    return edit_between(entries, sorted((*kept, *undo.removed), key=lambda entry: entry.id))


def cannot_undo(reason: str) -> UsageError:
    """Why what was done cannot be undone any more."""
    return UsageError("cannot_undo", f"This can no longer be undone by itself. {reason}")


def _goes_on(entries: Sequence[Entry], brought: set[str]) -> bool:
    last = max(brought)
    return any(e.id > last and e.role not in ASIDE for e in entries)
