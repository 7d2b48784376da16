"""One open conversation: its entries, stores and counters in memory, and their records.

Invariants: every change is made in memory first and staged in the same breath, without waiting
between, so that whatever ``save`` writes is one consistent state in one transaction; a store's
record never carries messages and an entry's never carries stores; the toolCallId counter only
goes up (reference: Persistent storage; The context object, toolCallId).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from personae.changes import (
    AgentsChanged,
    Changed,
    EntriesReplaced,
    EntryAdded,
    EntryRemoved,
    EntryUpdated,
)
from personae.conversation.call_numbers import highest
from personae.conversation.edits import Edit
from personae.conversation.entries import Entry, Role, entry_id
from personae.ports import Clock, Delete, Key, Put, Record, Table
from personae.sandbox.process import StoreText
from personae.storage.recency import Recency
from personae.storage.records import Head, PendingEdit, put_entry, put_head, put_store
from personae.storage.saver import Saver
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
        changed before they are there (``Openings``)."""
        self.stores = stores
        self.broken_stores: set[str] = set()
        """Agents whose stored data cannot be read: they are not called, it is not replaced."""
        self.log_records: list[Record] = []
        """What was stored of the agents' logs (``agent_log.py``)."""
        self._saver = saver
        self._clock = clock
        self._recency = recency
        self._changed = changed
        self._staged: dict[tuple[Table, Key], Put | Delete] = {}
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
        if role == "user" and not self.head.named and not self.head.title:
            self.head.title = title_from(entry.content)
        self._stage(put_entry(self.id, entry.with_(**(stored_as or {}))))
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

    def show(self, entry: Entry) -> None:
        """Replaces the entry with the same id in memory; the newest state is yet to be staged."""
        self.entries[self._index(entry.id)] = entry
        self._changed(EntryUpdated(entry))

    def update(self, entry: Entry, *, stored: Entry | None = None) -> None:
        """Replaces the entry with the same id; ``stored``: what is written instead of it."""
        self.entries[self._index(entry.id)] = entry
        self._stage(put_entry(self.id, stored or entry))
        self._touch()
        self._changed(EntryUpdated(entry))

    def drop(self, entry: Entry) -> None:
        """Takes an entry out that never came to mean anything."""
        del self.entries[self._index(entry.id)]
        self._stage(Delete("entries", (self.id, entry.id)))
        self._changed(EntryRemoved(entry))

    def apply(self, edit: Edit, told: Iterable[str]) -> None:
        """Takes an edit over; ``told``: the agents to be told when toolCallIds were removed."""
        self.entries = list(edit.entries)
        for entry in edit.removed:
            self._stage(Delete("entries", (self.id, entry.id)))
        for entry in edit.changed:
            self._stage(put_entry(self.id, entry))
        self.expect_edit(edit, told)
        self._touch()
        self._changed(EntriesReplaced())

    def expect_edit(self, edit: Edit, told: Iterable[str]) -> None:
        """Notes which agents are still to hear of an edit, so that a killed tab forgets none."""
        agents = list(told)
        if not edit.deleted_numbers or not agents:
            return
        earlier = self.head.edit.deleted_numbers if self.head.edit else []
        numbers = sorted({*earlier, *edit.deleted_numbers})
        self.head.edit = PendingEdit(numbers, edit.last_viable, agents)
        self._touch()

    def edit_told(self, agent_id: str) -> None:
        """An agent has heard of the edit."""
        pending = self.head.edit
        if pending is None:
            return
        pending.agents = [agent for agent in pending.agents if agent != agent_id]
        if not pending.agents:
            self.head.edit = None
        self._stage(put_head(self.head))

    def put_store(self, agent_id: str, store: StoreText) -> None:
        if self.stores.get(agent_id) == store:
            return
        self.stores[agent_id] = store
        self._stage(put_store(self.id, agent_id, store))
        self._changed(AgentsChanged())

    def take_number(self) -> int:
        """The next toolCallId; stored with whatever is saved next."""
        self.head.last_number += 1
        self._stage(put_head(self.head))
        return self.head.last_number

    def spend(self, tokens: int) -> None:
        self.head.tokens_spent += tokens
        self._stage(put_head(self.head))
        self._changed(AgentsChanged())

    def rename(self, title: str) -> None:
        self.head.title, self.head.named = well_formed(title), True
        self._touch()

    def stage(self, write: Put | Delete) -> None:
        """Adds a write of someone else's to the next transaction."""
        self._stage(write)

    async def save(self) -> None:
        """Writes what is staged; returns when it is stored or kept for later (see Saver)."""
        if writes := self._take_staged():
            await self._saver.write(writes)

    def save_meanwhile(self) -> None:
        """As ``save``, without waiting; what is saved later is stored after it."""
        if writes := self._take_staged():
            self._saver.begin(writes)

    def fall_silent(self) -> None:
        """The app shows another conversation: it hears of this one's changes no more."""
        self._changed = lambda change: None

    def _take_staged(self) -> list[Put | Delete]:
        writes, self._staged = list(self._staged.values()), {}
        return writes

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
        self._stage(put_head(self.head))

    def _stage(self, write: Put | Delete) -> None:
        self._staged.pop((write.table, write.key), None)
        self._staged[(write.table, write.key)] = write


def title_from(text: str) -> str:
    """A conversation's title from its first message: one line, cut on code points."""
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
