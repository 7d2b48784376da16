"""The stored conversations of one character (reference: Conversation management).

Invariants: a read that fails raises and nothing is written, but a conversation that began after
storage failed is read from memory; records of another tab's open conversation are not changed; a
damaged entry is left in storage and out of the list.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from typing import Any

from personae.conversation.edits import Edit
from personae.conversation.entries import Entry
from personae.conversation.entry_json import entry_from_json
from personae.errors import StorageError, UsageError
from personae.ports import Clock, Delete, Key, Notifier, Put, Record, Table
from personae.sandbox.process import StoreText
from personae.storage.journal import Changed, Journal
from personae.storage.recency import Recency
from personae.storage.records import (
    Head,
    head_from_record,
    loads,
    put_entry,
    put_head,
    put_store,
    store_from_record,
)
from personae.storage.saver import Saver

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
        return self._heads(await self._saver.read("conversations", (self.character_id,)))

    def unstored_heads(self) -> list[Head]:
        """As ``heads``, of the conversations that are in memory only."""
        heads = self._heads(self._saver.unstored("conversations", (self.character_id,)))
        return [head for head in heads if self._saver.is_unstored(head.id)]

    def _heads(self, records: Iterable[Record]) -> list[Head]:
        heads = []
        for record in records:
            try:
                heads.append(head_from_record(record))
            except StorageError as error:
                self._notifier.notify("warning", error.message)
        self._recency.know(heads)
        return sorted(heads, key=lambda head: (head.updated_at, head.id), reverse=True)

    async def create(self) -> Journal:
        """A new, empty conversation, stored at once."""
        journal = self._journal(self.new_head())
        journal.stage(put_head(journal.head))
        await journal.save()
        self._saver.began(journal.id)
        return journal

    def new_head(self, **fields: Any) -> Head:
        now = self._clock.now()
        head = Head(
            id=f"{now:013d}-{os.urandom(4).hex()}",
            character_id=self.character_id,
            created_at=now,
            updated_at=now,
            **fields,
        )
        self._recency.touch(head)
        return head

    async def load(self, conversation_id: str) -> Journal:
        """A stored conversation, of a long one the last page: ``complete`` brings the rest.

        Raises UsageError ``unknown_conversation``, StorageError.
        """
        head = await self.head(conversation_id)
        entries = await self._read("entries", (conversation_id,), conversation_id, limit=PAGE)
        stores = await self._read("stores", (conversation_id,), conversation_id)
        readable, damaged = decode(entries)
        self._warn_of(damaged)
        if entries:
            digits = str(entries[-1].key[-1])[1:]
            head.next_entry = max(head.next_entry, int(digits) + 1 if digits.isdecimal() else 0)
        journal = self._journal(head, readable)
        if len(entries) == PAGE:
            journal.first_read = entries[0].key
        self._take_stores(journal, stores)
        journal.log_records = [record for record in stores if len(record.key) == 4]
        return journal

    async def complete(self, journal: Journal) -> None:
        """Reads the entries before the last page, in steps that let others run. StorageError."""
        older: list[Entry] = []
        damaged, before = 0, journal.first_read
        while not journal.is_whole:
            page = await self._read(
                "entries", (journal.id,), journal.id, limit=BLOCK, before=before
            )
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
        self._warn_of(damaged)

    async def head(self, conversation_id: str) -> Head:
        key = (self.character_id, conversation_id)
        found = await self._read("conversations", key, conversation_id)
        if not found:
            raise UsageError(
                "unknown_conversation", f"This character has no conversation {conversation_id!r}."
            )
        return head_from_record(found[0])

    async def delete(self, conversation_id: str) -> None:
        """Removes every record of a conversation."""
        await self._saver.write(
            [
                Delete("entries", (conversation_id,), prefix=True),
                Delete("stores", (conversation_id,), prefix=True),
                Delete("conversations", (self.character_id, conversation_id)),
            ]
        )

    async def rename(self, conversation_id: str, title: str) -> None:
        """Renames a conversation that is not open here."""
        journal = self._journal(await self.head(conversation_id))
        journal.rename(title)
        await journal.save()

    async def fork(self, source: Journal, edit: Edit, told: Iterable[str]) -> str:
        """Writes a new conversation from the source's entries up to the fork point; its id."""
        head = self.new_head(
            title=f"{source.head.title} (fork)".strip(),
            named=True,
            next_entry=source.head.next_entry,
            last_number=source.head.last_number,
            tokens_spent=source.head.tokens_spent,
        )
        return await self.write(head, edit.entries, source.stores, edit, told)

    async def write(
        self,
        head: Head,
        entries: Sequence[Entry],
        stores: dict[str, StoreText],
        edit: Edit | None = None,
        told: Iterable[str] = (),
    ) -> str:
        """Writes a whole conversation; its id.

        The head is in the last transaction: a conversation is there once all of it is.
        """
        journal = self._journal(head, entries)
        if edit is not None:
            journal.expect_edit(edit, told)
        last = max(0, len(entries) - BLOCK)
        for start in range(0, last, BLOCK):  # one large transaction would hold the page up
            some = entries[start : min(start + BLOCK, last)]
            await self._saver.write([put_entry(head.id, entry) for entry in some])
        writes: list[Put | Delete] = [put_head(journal.head)]
        writes += [put_entry(head.id, entry) for entry in entries[last:]]
        writes += [put_store(head.id, agent, store) for agent, store in stores.items()]
        await self._saver.write(writes)
        self._saver.began(head.id)
        return head.id

    async def _read(
        self,
        table: Table,
        prefix: Key,
        conversation_id: str,
        *,
        limit: int | None = None,
        before: Key | None = None,
    ) -> list[Record]:
        try:
            return await self._saver.read(table, prefix, limit=limit, before=before)
        except StorageError:
            if self._saver.is_unstored(conversation_id):
                return self._saver.unstored(table, prefix, limit=limit, before=before)
            raise

    def _journal(self, head: Head, entries: Iterable[Entry] = ()) -> Journal:
        return Journal(head, entries, {}, self._saver, self._clock, self._recency, self._changed)

    def _warn_of(self, damaged: int) -> None:
        if damaged:
            self._notifier.notify(
                "warning",
                f"{damaged} stored message(s) of this conversation are damaged and not shown. "
                "They were left in storage.",
            )

    def _take_stores(self, journal: Journal, records: Iterable[Record]) -> None:
        for record in records:
            if len(record.key) != 2:
                continue
            agent_id = str(record.key[1])
            try:
                journal.stores[agent_id] = store_from_record(record)
            except StorageError as error:
                journal.broken_stores.add(agent_id)
                self._notifier.notify("warning", error.message)


def decode(records: Iterable[Record]) -> tuple[list[Entry], int]:
    """The readable entries, and how many are damaged."""
    entries, damaged = [], 0
    for record in records:
        try:
            entries.append(entry_from_json(loads(record.value)))
        except StorageError:
            damaged += 1
    return entries, damaged
