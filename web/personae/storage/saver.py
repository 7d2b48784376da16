"""Durable writes that survive a storage that fails for a while.

Invariants: writes reach storage in the order they were made, each batch in one transaction; after
a fault everything not yet stored is kept in memory and tried again, at the next write and on a
timer; reads see what is kept; while a read has failed nothing is written before a read succeeds;
a conversation with changes that are not stored stays locked by this tab; the user sees one banner
for one fault, and it goes away by itself. A page has one Saver, which outlives its players.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from personae.errors import StorageError
from personae.ports import (
    Clock,
    Delete,
    Key,
    Notifier,
    Put,
    Query,
    Record,
    Storage,
    StorageFails,
    StorageWorks,
)
from personae.storage.leases import Lease

FIRST_RETRY = 2_000
LONGEST_RETRY = 30_000


class Saver:
    def __init__(self, storage: Storage, clock: Clock, notifier: Notifier) -> None:
        self._storage = storage
        self._clock = clock
        self._notifier = notifier
        self._pending: dict[tuple[str, Key], Put | Delete] = {}
        self._lock = asyncio.Lock()
        self._fault: StorageError | None = None
        self._read_first = False
        self._retry: asyncio.Task[None] | None = None
        self._flushes: set[asyncio.Task[None]] = set()
        self._leases: dict[str, Lease] = {}
        self._unstored: set[str] = set()
        """Conversations of which nothing is stored."""

    @property
    def fault(self) -> StorageError | None:
        """Why the newest changes are only in memory; None when everything is stored."""
        return self._fault

    async def write(self, writes: Sequence[Put | Delete]) -> None:
        """Returns when the writes are stored, or kept for later after a fault.

        A caller that is cancelled meanwhile does not take the write with it.
        """
        await asyncio.shield(self.write_later(writes))

    def write_later(self, writes: Sequence[Put | Delete]) -> asyncio.Task[None]:
        """As ``write``, for who does not wait: what is written later is stored after it."""
        for write in writes:
            self._keep(self._pending, write)
        flush = asyncio.ensure_future(self._flush())
        self._flushes.add(flush)
        flush.add_done_callback(self._flushes.discard)
        return flush

    async def read(self, query: Query) -> list[Record]:
        """As ``Storage.read``, with the writes that are not stored yet. Raises StorageError."""
        async with self._lock:  # no batch is on its way
            if not any(write.table == query.table for write in self._pending.values()):
                return await self._storage.read(query)
            stored = await self._storage.read(Query(query.table, query.prefix))
            return self._overlaid({record.key: record.value for record in stored}, query)

    def unstored(self, query: Query) -> list[Record]:
        """What ``read`` would find if storage were empty."""
        return self._overlaid({}, query)

    def note_new(self, conversation_id: str) -> None:
        """A new conversation was written."""
        if self._fault is not None:
            self._unstored.add(conversation_id)

    def is_unstored(self, conversation_id: str) -> bool:
        """Whether all of a conversation is in memory, so that ``unstored`` has the whole of it."""
        return conversation_id in self._unstored

    def suspend(self, error: StorageError) -> None:
        """A read failed: nothing is written until a read works again."""
        self._read_first = True
        self._failed(error)

    def give_back(self, name: str, lease: Lease) -> None:
        """Releases a conversation's lock once everything is stored."""
        if self._fault is None:
            lease.release()
        else:
            self._leases[name] = lease

    def take_back(self, name: str) -> Lease | None:
        """A lock that is still held here, for one who opens that conversation again."""
        return self._leases.pop(name, None)

    async def flush(self) -> None:
        """Waits for what is being written; what cannot be is kept and tried again."""
        if self._pending or self._flushes:
            await self._flush()

    async def _flush(self) -> None:
        async with self._lock:
            if not self._pending and self._fault is None:
                return
            batch, self._pending = self._pending, {}
            try:
                if self._read_first:
                    await probe(self._storage)
                    self._read_first = False
                await self._commit(batch)
            except StorageError as error:
                self._put_back(batch)
                self._failed(error)
            except BaseException:
                self._put_back(batch)
                raise
            else:
                self._succeeded()

    async def _commit(self, batch: dict[tuple[str, Key], Put | Delete]) -> None:
        """One transaction; on a full disk the deletions go first, for they make room.

        That keeps the order: a deletion drops the earlier puts it covers when it is kept.
        """
        if not batch:
            return
        deletions = [write for write in batch.values() if isinstance(write, Delete)]
        try:
            await self._storage.commit(list(batch.values()))
        except StorageError as error:
            if error.code != "storage_full" or not deletions:
                raise
            await self._storage.commit(deletions)
            for write in deletions:
                del batch[(write.table, write.key)]
            if batch:
                await self._storage.commit(list(batch.values()))

    def _overlaid(self, records: dict[Key, str | bytes], query: Query) -> list[Record]:
        """What is asked for, given what is stored of it: ``records``, which are changed."""
        for write in self._pending.values():
            if write.table != query.table:
                continue
            if isinstance(write, Put):
                records[write.key] = write.value
                continue
            for key in [key for key in records if write.covers(key)]:
                del records[key]
        return query.among(records)

    def _put_back(self, batch: dict[tuple[str, Key], Put | Delete]) -> None:
        for write in self._pending.values():
            self._keep(batch, write)
        self._pending = batch

    @staticmethod
    def _keep(batch: dict[tuple[str, Key], Put | Delete], write: Put | Delete) -> None:
        if isinstance(write, Delete) and write.prefix:
            for key in [key for key in batch if key[0] == write.table and write.covers(key[1])]:
                del batch[key]
        batch.pop((write.table, write.key), None)
        batch[(write.table, write.key)] = write

    def _failed(self, error: StorageError) -> None:
        if self._fault is None or self._fault.code != error.code:
            self._notifier.notify(
                StorageFails(
                    f"{error.message} What was said since is not saved yet: the conversation goes "
                    "on in memory, and saving resumes by itself when storage works again."
                )
            )
        self._fault = error
        if self._retry is None or self._retry.done():
            self._retry = asyncio.ensure_future(self._retry_later())

    def _succeeded(self) -> None:
        if self._fault is not None:
            self._fault = None
            self._unstored.clear()
            self._notifier.notify(StorageWorks())
            while self._leases:
                self._leases.popitem()[1].release()

    async def _retry_later(self) -> None:
        delay = FIRST_RETRY
        while self._fault is not None:
            await self._clock.sleep(delay)
            await self._flush()
            delay = min(2 * delay, LONGEST_RETRY)


async def probe(storage: Storage) -> None:
    """Asks the least that can be asked. Raises StorageError while nothing can be read."""
    await storage.read(Query("settings", limit=1))
