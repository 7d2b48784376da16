"""The stored conversations of one character (reference: Conversation management).

Invariants: a read that fails raises and nothing is written, but a conversation that began after
storage failed is read from memory; records of another tab's open conversation are not changed; a
damaged entry is left in storage and out of the list.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from personae.conversation.changes import Changed
from personae.conversation.edits import Edit
from personae.conversation.entries import Entry
from personae.conversation.entry_json import entry_from_json
from personae.conversation.undo import cannot_undo
from personae.errors import StorageError, UsageError
from personae.ports import Caution, Clock, Delete, Key, Notifier, Put, Query, Record, Table
from personae.storage.head import Head
from personae.storage.journal import Journal
from personae.storage.recency import Recency
from personae.storage.records import (
    CONVERSATION_TABLES,
    draft_key,
    head_from_record,
    loads,
    put_head,
    store_from_record,
)
from personae.storage.saver import Saver
from personae.storage.snapshot import Snapshot

PAGE = 100
"""Entries that are read before a conversation is shown."""
BLOCK = 200
"""Entries that are read, or written, at a time after that."""
STEP = 40
"""Entries decoded in one go while the rest is read: a few milliseconds in a browser."""


class Conversations:
    def __init__(
        self,
        character_id: str,
        saver: Saver,
        clock: Clock,
        notifier: Notifier,
        changed: Changed,
    ) -> None:
        self.character_id = character_id
        self._saver = saver
        self._clock = clock
        self._recency = Recency(clock)
        self._notifier = notifier
        self._changed = changed

    def lock_name(self, conversation_id: str) -> str:
        """The name of the lock that one tab at a time holds on a conversation."""
        return f"personae:{self.character_id}:{conversation_id}"

    async def heads(self) -> list[Head]:
        """The readable heads, the one that changed last first. Raises StorageError."""
        return self._heads(await self._saver.read(self._mine))

    def unstored_heads(self) -> list[Head]:
        """As ``heads``, of the conversations that are in memory only."""
        heads = self._heads(self._saver.unstored(self._mine))
        return [head for head in heads if self._saver.is_unstored(head.id)]

    @property
    def _mine(self) -> Query:
        return Query("conversations", (self.character_id,))

    def _heads(self, records: Iterable[Record]) -> list[Head]:
        heads = []
        for record in records:
            try:
                heads.append(head_from_record(record))
            except StorageError as error:
                self._notifier.notify(Caution(error.message))
        self._recency.know(heads)
        return sorted(heads, key=lambda head: (head.updated_at, head.id), reverse=True)

    async def create(self) -> Journal:
        """A new, empty conversation, stored at once."""
        now = self._clock.now()
        head = Head(self._new_id(now), self.character_id, created_at=now, updated_at=now)
        self._recency.touch(head)
        await self._write_new(head.id, [put_head(head)])
        return self._journal(head)

    @staticmethod
    def _new_id(now: int) -> str:
        return f"{now:013d}-{os.urandom(4).hex()}"

    async def _write_new(self, conversation_id: str, writes: Sequence[Put]) -> None:
        await self._saver.write(writes)
        self._saver.note_new(conversation_id)

    async def load(self, conversation_id: str) -> Journal:
        """A stored conversation, of a long one the last page: ``complete`` brings the rest.

        Raises UsageError ``unknown_conversation``, StorageError.
        """
        head = await self.head(conversation_id)
        entries = await self._read("entries", conversation_id, limit=PAGE)
        stores = await self._read("stores", conversation_id)
        logs = await self._read("logs", conversation_id)
        readable, damaged = decode(entries)
        self._warn_of(len(damaged))
        if entries:
            digits = str(entries[-1].key[-1])[1:]
            head.next_entry = max(head.next_entry, int(digits) + 1 if digits.isdecimal() else 0)
        journal = self._journal(head, readable)
        if len(entries) == PAGE:
            journal.first_read = entries[0].key
        journal.unreadable = [Put("entries", record.key, record.value) for record in damaged]
        self._read_stores(journal, stores)
        journal.logs = {
            (str(owner), int(number)): record.value
            for record in logs
            for _, owner, number in [record.key]
        }
        return journal

    async def complete(self, journal: Journal) -> None:
        """Reads the entries before the last page, in steps that let others run. StorageError."""
        older: list[Entry] = []
        damaged: list[Record] = []
        before = journal.first_read
        while not journal.is_whole:
            page = await self._read("entries", journal.id, limit=BLOCK, before=before)
            decoded: list[Entry] = []
            for start in range(0, len(page), STEP):
                entries, failed = decode(page[start : start + STEP])
                decoded, damaged = decoded + entries, damaged + failed
                await asyncio.sleep(0)
            older = decoded + older
            if len(page) < BLOCK:
                journal.prepend(older)
            else:
                before = page[0].key
        journal.unreadable += [Put("entries", record.key, record.value) for record in damaged]
        self._warn_of(len(damaged))

    async def head(self, conversation_id: str) -> Head:
        query = Query("conversations", (self.character_id, conversation_id))
        found = await self._find(query, conversation_id)
        if not found:
            raise UsageError(
                "unknown_conversation", f"This character has no conversation {conversation_id!r}."
            )
        return head_from_record(found[0])

    async def delete(self, conversation_id: str) -> None:
        """Removes every record of a conversation."""
        await self._saver.write(
            [
                *(Delete(table, (conversation_id,), prefix=True) for table in CONVERSATION_TABLES),
                Delete("conversations", (self.character_id, conversation_id)),
                Delete("settings", draft_key(conversation_id)),
            ]
        )

    async def rename(self, conversation_id: str, title: str) -> None:
        """Renames a conversation that is not open here."""
        journal = self._journal(await self.head(conversation_id))
        journal.rename(title)
        await journal.save()

    async def fork(self, source: Journal, edit: Edit, told: Iterable[str]) -> str:
        """Writes a new conversation from the source's entries up to the fork point; its id."""
        return await self.copy(
            Snapshot(source.head, edit.entries, source.stores),
            edit,
            told,
            title=f"{source.head.title} (fork)".strip(),
            named=True,
        )

    async def copy(
        self,
        source: Snapshot,
        edit: Edit | None = None,
        told: Iterable[str] = (),
        **changes: Any,
    ) -> str:
        """Writes a whole conversation under a new id; the id.

        The head is in the last transaction: a conversation is there once all of it is. ``edit``
        and ``told`` as for ``Journal.expect_edit``, ``changes`` to the source's head.
        """
        now = self._clock.now()
        head = source.head.successor(self._new_id(now), self.character_id, now, **changes)
        self._recency.touch(head)
        journal = self._journal(head, source.entries)
        if edit is not None:
            journal.expect_edit(edit, told)
        await self._write_whole(source, head)
        return head.id

    async def bring_back(self, deleted: Snapshot) -> None:
        """Writes a conversation that was deleted as it was, id and times included."""
        query = Query("conversations", (self.character_id, deleted.head.id))
        with suppress(StorageError):  # it was deleted here, so that it is in memory then
            if await self._find(query, deleted.head.id):
                raise cannot_undo("The conversation is there already.")
        await self._write_whole(deleted, deleted.head)

    async def _write_whole(self, source: Snapshot, head: Head) -> None:
        """Writes a conversation that is not there yet, the head in the last transaction."""
        first, *others = source.writes(head)
        last = max(0, len(others) - BLOCK)
        for start in range(0, last, BLOCK):  # one large transaction would hold the page up
            await self._saver.write(others[start : min(start + BLOCK, last)])
        await self._write_new(head.id, [first, *others[last:]])

    async def _read(
        self,
        table: Table,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: Key | None = None,
    ) -> list[Record]:
        return await self._find(Query(table, (conversation_id,), limit, before), conversation_id)

    async def _find(self, query: Query, conversation_id: str) -> list[Record]:
        try:
            return await self._saver.read(query)
        except StorageError:
            if self._saver.is_unstored(conversation_id):
                return self._saver.unstored(query)
            raise

    def _journal(self, head: Head, entries: Iterable[Entry] = ()) -> Journal:
        return Journal(head, entries, {}, self._saver, self._clock, self._recency, self._changed)

    def _warn_of(self, damaged: int) -> None:
        if damaged:
            self._notifier.notify(
                Caution(
                    f"{damaged} stored message(s) of this conversation are damaged and not shown. "
                    "They were left in storage."
                )
            )

    def _read_stores(self, journal: Journal, records: Iterable[Record]) -> None:
        for record in records:
            owner = str(record.key[1])
            try:
                journal.stores[owner] = store_from_record(record)
            except StorageError as error:
                journal.broken_stores.add(owner)
                journal.unreadable.append(Put("stores", record.key, record.value))
                self._notifier.notify(Caution(error.message))


def decode(records: Iterable[Record]) -> tuple[list[Entry], list[Record]]:
    """The readable entries, and the records that are damaged."""
    entries, damaged = [], []
    for record in records:
        try:
            entries.append(entry_from_json(loads(record.value)))
        except StorageError:
            damaged.append(record)
    return entries, damaged
