"""One open conversation: its entries, stores and counters in memory, and their records.

Invariants: every change is made in memory first and its write noted in the same breath, without
waiting between, so that whatever ``save`` writes is one consistent state in one transaction; a
store's record never carries messages and an entry's never carries stores; the toolCallId counter
only goes up (reference: Persistent storage; The context object, toolCallId).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from personae.conversation.call_numbers import highest, of_members
from personae.conversation.changes import (
    AgentsChanged,
    Changed,
    EntriesReplaced,
    EntryAdded,
    EntryRemoved,
    EntryUpdated,
)
from personae.conversation.edits import Edit
from personae.conversation.entries import Entry, Role, entry_id
from personae.ports import Clock, Delete, Key, Put, Table
from personae.sandbox.process import StoreText
from personae.storage.head import Head, PendingEdit
from personae.storage.recency import Recency
from personae.storage.records import head_key, log_key, put_entry, put_head, put_store
from personae.storage.saver import Saver
from personae.storage.scopes import scope_and_agent
from personae.storage.snapshot import Snapshot
from personae.unicode import well_formed

TITLE_LENGTH = 60
"""Code points."""


class Journal:
    def __init__(
        self,
        head: Head,
        entries: Iterable[Entry],
        stores: dict[str, StoreText],
        saver: Saver,
        clock: Clock,
        recency: Recency,
        changed: Changed,
    ) -> None:
        self.head = head
        self.entries = list(entries)
        """All of them, or while ``first_read`` is set the last ones."""
        self.first_read: Key | None = None
        """The key of the oldest entry that was read, while older ones are to come: nothing is
        changed before they are there (``OpenConversation``)."""
        self.stores = stores
        """By owner: an agent as ``scopes.scoped`` names it."""
        self.broken_stores: set[str] = set()
        """Owners whose stored data cannot be read: they are not called, it is not replaced."""
        self.logs: dict[tuple[str, int], str | bytes] = {}
        """What is stored of the agents' logs, by owner and number (``activity_log.py``)."""
        self.unreadable: list[Put] = []
        """Records of this conversation that cannot be read, as they are."""
        self._saver = saver
        self._clock = clock
        self._recency = recency
        self._changed = changed
        self._stored_as: dict[str, Mapping[str, Any]] = {}
        """By the id of an entry that still grows: what differs in its record."""
        self._unsaved: dict[tuple[Table, Key], Put | Delete | None] = {}
        """None: the head, which is written as it is when it is saved."""
        self._catch_up()

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def is_whole(self) -> bool:
        """Whether all entries have been read."""
        return self.first_read is None

    def append(
        self, role: Role, content: str, *, stored_as: Mapping[str, Any] | None = None, **fields: Any
    ) -> Entry:
        """Adds an entry at the end; ``stored_as``: what differs in its record."""
        entry = Entry(
            id=entry_id(self.head.next_entry),
            role=role,
            content=well_formed(content),
            at=self._clock.now(),
            **fields,
        )
        self.head.next_entry += 1
        self.entries.append(entry)
        if stored_as:
            self._stored_as[entry.id] = stored_as
        if role == "user" and not self.head.named and not self.head.title:
            self.head.title = title_from(entry.content)
        self._write(put_entry(self.id, self._as_stored(entry)))
        self._touch()
        self._changed(EntryAdded(entry))
        return entry

    def prepend(self, older: Iterable[Entry]) -> None:
        """Takes the older entries in; the conversation is whole then."""
        self.entries[:0] = older
        self._catch_up()
        self.first_read = None
        self._changed(EntriesReplaced())

    def entry(self, entry_id: str) -> Entry:
        """The entry as it is now."""
        return self.entries[self._index(entry_id)]

    def update_unsaved(self, entry: Entry) -> None:
        """Replaces the entry with the same id in memory; its record is written later."""
        self.entries[self._index(entry.id)] = entry
        self._changed(EntryUpdated(entry))

    def update(self, entry: Entry, *, grows: bool = False) -> None:
        """Replaces the entry with the same id; ``grows``: its record differs as it did before."""
        self.entries[self._index(entry.id)] = entry
        if not grows:
            self._stored_as.pop(entry.id, None)
        self._write(put_entry(self.id, self._as_stored(entry)))
        self._touch()
        self._changed(EntryUpdated(entry))

    def drop(self, entry: Entry) -> None:
        """Takes an entry out that never came to mean anything."""
        del self.entries[self._index(entry.id)]
        self._stored_as.pop(entry.id, None)
        self._write(Delete("entries", (self.id, entry.id)))
        self._changed(EntryRemoved(entry))

    def apply(self, edit: Edit, told: Iterable[str]) -> None:
        """Takes an edit over; ``told``: the owners to be told when toolCallIds were removed."""
        self.entries = list(edit.entries)
        for entry in edit.removed:
            self._write(Delete("entries", (self.id, entry.id)))
        for entry in edit.changed:
            self._write(put_entry(self.id, entry))
        self.expect_edit(edit, told)
        self._touch()
        self._changed(EntriesReplaced())

    def take_back(
        self, edit: Edit, told: Iterable[str], stores: Mapping[str, StoreText | None]
    ) -> None:
        """As ``apply``, for an edit that undoes another; ``stores``: as they were before that."""
        if pending := self.head.edit:
            pending.find(of_members(edit.entries))
            pending.last_viable = edit.last_viable
            for name in tuple(pending.agents):
                if not pending.lost_to(scope_and_agent(name)[0]):
                    self.edit_told(name)
        self.apply(edit, told)
        for owner, store in stores.items():
            if store is not None:
                self.put_store(owner, store)
            elif self.stores.pop(owner, None) is not None:
                self._write(Delete("stores", (self.id, owner)))
                self._changed(AgentsChanged())

    def expect_edit(self, edit: Edit, told: Iterable[str]) -> None:
        """Notes which agents are still to hear of an edit, so that a killed tab forgets none.

        An agent hears of the toolCallIds of its scope, and not of an edit that took none of them.
        """
        earlier = self.head.edit.lost if self.head.edit else {}
        pending = PendingEdit(dict(earlier), edit.last_viable, [])
        pending.lose(edit.lost)
        pending.agents = [name for name in told if pending.lost_to(scope_and_agent(name)[0])]
        if edit.lost and pending.agents:
            self.head.edit = pending
            self._touch()

    def edit_told(self, owner: str) -> None:
        """An agent has heard of the edit."""
        pending = self.head.edit
        if pending is None:
            return
        pending.agents = [name for name in pending.agents if name != owner]
        if not pending.agents:
            self.head.edit = None
        self._head_changed()

    def put_store(self, owner: str, store: StoreText) -> None:
        if self.stores.get(owner) == store:
            return
        self.stores[owner] = store
        self._write(put_store(self.id, owner, store))
        self._changed(AgentsChanged())

    def put_log(self, owner: str, number: int, value: str) -> None:
        """Adds a record to an agent's activity log; stored with whatever is saved next."""
        self.logs[owner, number] = value
        self._write(Put("logs", log_key(self.id, owner, number), value))

    def drop_log(self, owner: str, number: int) -> None:
        if self.logs.pop((owner, number), None) is not None:
            self._write(Delete("logs", log_key(self.id, owner, number)))

    def take_number(self) -> int:
        """The next toolCallId; stored with whatever is saved next."""
        self.head.last_number += 1
        self._head_changed()
        return self.head.last_number

    def spend(self, tokens: int) -> None:
        self.head.tokens_spent += tokens
        self._head_changed()
        self._changed(AgentsChanged())

    def rename(self, title: str) -> None:
        self.head.title, self.head.named = well_formed(title), True
        self._touch()

    def snapshot(self) -> Snapshot:
        """All of it as it is now; it has to be whole."""
        logs = (Put("logs", log_key(self.id, *key), value) for key, value in self.logs.items())
        return Snapshot(
            deepcopy(self.head),
            tuple(self.entries_as_stored()),
            dict(self.stores),
            (*logs, *self.unreadable),
        )

    def entries_as_stored(self) -> list[Entry]:
        """The entries as their records have them: one that still grows is marked as stopped."""
        return [self._as_stored(entry) for entry in self.entries]

    async def save(self) -> None:
        """Writes what has changed; returns when it is stored or kept for later (see Saver)."""
        if writes := self._taken_writes():
            await self._saver.write(writes)

    def save_meanwhile(self) -> None:
        """As ``save``, without waiting; what is saved later is stored after it."""
        if writes := self._taken_writes():
            self._saver.write_later(writes)

    def fall_silent(self) -> None:
        """The app shows another conversation: it hears of this one's changes no more."""
        self._changed = lambda change: None

    def _taken_writes(self) -> list[Put | Delete]:
        """What is to be written, which then is no more."""
        unsaved, self._unsaved = self._unsaved, {}
        return [put_head(self.head) if write is None else write for write in unsaved.values()]

    def _catch_up(self) -> None:
        """Counters never fall behind the records, whatever a crash left of the head."""
        self.head.last_number = max(self.head.last_number, highest(self.entries))
        for entry in self.entries[-1:]:
            digits = entry.id[1:]
            if digits.isdecimal():
                self.head.next_entry = max(self.head.next_entry, int(digits) + 1)

    def _index(self, entry_id: str) -> int:
        for index in range(len(self.entries) - 1, -1, -1):
            if self.entries[index].id == entry_id:
                return index
        raise KeyError(entry_id)

    def _touch(self) -> None:
        self._recency.touch(self.head)
        self._head_changed()

    def _as_stored(self, entry: Entry) -> Entry:
        differing = self._stored_as.get(entry.id)
        return entry.with_(**differing) if differing else entry

    def _head_changed(self) -> None:
        key: tuple[Table, Key] = ("conversations", head_key(self.head))
        self._unsaved.pop(key, None)
        self._unsaved[key] = None

    def _write(self, write: Put | Delete) -> None:
        self._unsaved.pop((write.table, write.key), None)
        self._unsaved[(write.table, write.key)] = write


def title_from(text: str) -> str:
    """A conversation's title from its first message: one line, cut on code points."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
