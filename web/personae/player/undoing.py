"""Undo: what an edit did to a conversation, noted while it happens, and taking it back.

Invariants: all of it is taken back in one transaction or nothing is; what happened since stays. An
agent whose store the edit or its response changed gets back the one of before, and when it has
changed again since, the edit stands. Entries that go by an undo are removed by the user like any
others: agents hear of their toolCallIds; of an edit that is undone, those who have not heard of it
yet never do (reference: afterUserEdit).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from personae.conversation.edits import Edit
from personae.conversation.entries import Entry, entry_id
from personae.conversation.undo import Undo, cannot_undo, take_back, undo_of
from personae.player.session import Session
from personae.sandbox.process import StoreText
from personae.storage.journal import Journal
from personae.storage.snapshot import Snapshot

Stores = dict[str, StoreText | None]
"""By owner; None: there is none."""


@dataclass(slots=True)
class Deed:
    """An edit with the response that came of it. Made empty by who wants to undo it later."""

    before: Snapshot | None = None
    """The conversation as it was; None: nothing has been edited yet, or no longer is."""
    ended: bool = False
    """Whether the edit, its hooks and its response are over."""
    _edit: Edit | None = None
    _first: str = ""
    """The id of the first entry that could come of it."""
    _undo: Undo | None = None
    _was: Stores = field(default_factory=dict)
    _left: Stores = field(default_factory=dict)
    """The stores that were changed: as they were, and as they were left."""

    def begin(self, journal: Journal, edit: Edit) -> None:
        """The edit is about to be applied."""
        self.before, self._edit = journal.snapshot(), edit
        self._first = entry_id(journal.head.next_entry)

    def end(self, journal: Journal) -> None:
        """All that comes of it has happened."""
        self.ended = True
        if self.before is None or self._edit is None:
            return
        brought = self._brought(journal.entries)
        self._undo = undo_of(self.before.entries, self._edit, brought)
        self._was = _differing(self.before.stores, journal.stores)
        self._left = {owner: journal.stores.get(owner) for owner in self._was}

    def came_to_nothing(self) -> bool:
        """Whether it removed something, and no word came instead."""
        if self._undo is None or not self._undo.removed:
            return False
        return not any(e.content.strip() or e.tool_calls or e.pictures for e in self._undo.brought)

    def take_back(self, session: Session) -> None:
        """Undoes it in memory. Raises UsageError ``cannot_undo``; then nothing has changed."""
        if self._undo is None:
            raise cannot_undo("There is nothing left to undo.")
        journal = session.journal
        edit = take_back(journal.entries, self._undo)
        for owner, left in self._left.items():
            if _text(journal.stores.get(owner)) not in (_text(left), _text(self._was[owner])):
                raise cannot_undo("An agent has noted something since that rests on it.")
        journal.take_back(edit, session.told_of_edits(), self._was)
        for seat in session.seats.values():
            seat.preload.stale = True
        self.before = self._undo = None

    def _brought(self, entries: Sequence[Entry]) -> list[Entry]:
        return [entry for entry in entries if entry.id >= self._first]


def _differing(was: Mapping[str, StoreText], now: Mapping[str, StoreText]) -> Stores:
    """Those of ``was`` that say something else now; None for one that is new."""
    owners = sorted(was.keys() | now.keys())
    return {
        owner: was.get(owner) for owner in owners if _text(was.get(owner)) != _text(now.get(owner))
    }


def _text(store: StoreText | None) -> str | None:
    return None if store is None else store.text
