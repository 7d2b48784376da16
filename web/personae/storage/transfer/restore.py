"""Merges a backup into what is on this device.

Invariants: a character that is here stays as it is, and only files that it misses are added; a
conversation that is as new or newer here stays as it is, and an older one is replaced only by one
of its character that holds every entry of it, any other is added beside it; what was spent in it
stays spent; a conversation shows up once all of it is stored, and what was stopped before leaves
nothing of a new one behind; no transaction is so large that it holds the page up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from personae.errors import StorageError
from personae.ports import Delete, Key, Put, Query, Storage, Table
from personae.storage.head import Head
from personae.storage.library import batches, parsed
from personae.storage.records import (
    CONVERSATION_TABLES,
    head_from_record,
    head_key,
    put_head,
)
from personae.storage.transfer.backup_file import Backup, Character, Conversation
from personae.written import dumps

_BATCH_BYTES = 1_000_000
_BATCH_RECORDS = 200


@dataclass(slots=True)
class Restored:
    characters: list[str] = field(default_factory=list)
    """Ids of the characters that were not here before."""
    conversations: int = 0


class Restoring:
    """``done`` hears how many of how many characters and conversations have been looked at."""

    def __init__(
        self, storage: Storage, backup: Backup, done: Callable[[int, int], None] | None = None
    ) -> None:
        self._storage, self._backup = storage, backup
        self._done = done or (lambda *_: None)

    async def run(self) -> Restored:
        """Raises StorageError; what was restored before it stays."""
        restored = Restored()
        backup = self._backup
        total = len(backup.characters) + len(backup.conversations)
        own = await self._own_characters()
        await self._mend(own)
        for number, character in enumerate(backup.characters):
            self._done(number, total)
            if character.id not in own:
                await self._add_character(character)
                own[character.id] = list(character.contents)
                restored.characters.append(character.id)
        own_heads = await self._own_heads()
        for number, one in enumerate(backup.conversations.values(), len(backup.characters)):
            self._done(number, total)
            restored.conversations += await self._take(one, own_heads)
        return restored

    async def _take(self, one: Conversation, own_heads: Mapping[str, Head | None]) -> bool:
        """Adds a conversation unless it is here; whether it did."""
        identity = one.head.id
        if identity not in own_heads:
            await self._add_conversation(one, is_new=True)
            return True
        own = own_heads[identity]
        if own is not None:
            if own.updated_at >= one.head.updated_at:
                return False
            if not await self._goes_on_in(own, one):
                return await self._take(_beside(one), own_heads)
            one.head.tokens_spent = max(one.head.tokens_spent, own.tokens_spent)
        await self._add_conversation(one, is_new=False)
        return True

    async def _goes_on_in(self, own: Head, one: Conversation) -> bool:
        """Whether a conversation that is here is the beginning of the one that comes."""
        if own.character_id != one.head.character_id:
            return False
        known = {put.key: put.value for put in one.records if put.table == "entries"}
        entries = await self._storage.read(Query("entries", (own.id,)))
        return all(known.get(record.key) == record.value for record in entries)

    async def _own_characters(self) -> dict[str, list[str]]:
        """The characters that are here and whole, and the hashes of their files."""
        found = [parsed(record) for record in await self._storage.read(Query("packages"))]
        return {
            record["id"]: [item["hash"] for item in record["files"]]
            for record in found
            if record is not None
        }

    async def _mend(self, own: dict[str, list[str]]) -> None:
        """Adds the files that characters which are here have lost."""
        present = {key[0] for key in await self._storage.keys("files")}
        lost = {digest for hashes in own.values() for digest in hashes} - present
        found = {name: data for name, data in self._backup.contents.items() if name in lost}
        for batch in batches(found):
            await self._storage.commit(batch)

    async def _add_character(self, character: Character) -> None:
        """All contents are written, also over what is there: these are what their hash says."""
        for batch in batches(character.contents):
            await self._storage.commit(batch)
        await self._storage.commit([Put("packages", (character.id,), dumps(character.record))])

    async def _own_heads(self) -> dict[str, Head | None]:
        """The conversations that are here; None for one whose record is damaged."""
        heads: dict[str, Head | None] = {}
        for record in await self._storage.read(Query("conversations")):
            heads[str(record.key[-1])] = None
            with suppress(StorageError):
                heads[str(record.key[-1])] = head_from_record(record)
        return heads

    async def _add_conversation(self, one: Conversation, *, is_new: bool) -> None:
        identity = one.head.id
        written: set[tuple[Table, Key]] = {(put.table, put.key) for put in one.records}
        before: list[Put | Delete] = []
        if not is_new:
            before = await self._leftovers(identity, written)
            before += await self._other_heads(one)
        try:
            for batch in _batched(one.records):
                await self._storage.commit(batch)
            await self._storage.commit([*before, put_head(one.head)])
        except BaseException:
            if is_new:
                with suppress(StorageError):
                    await self._storage.commit(
                        [Delete(table, (identity,), prefix=True) for table in CONVERSATION_TABLES]
                    )
            raise

    async def _leftovers(
        self, identity: str, written: set[tuple[Table, Key]]
    ) -> list[Put | Delete]:
        """Deletions of the records that the restored conversation does not have."""
        return [
            Delete(table, record.key)
            for table in CONVERSATION_TABLES
            for record in await self._storage.read(Query(table, (identity,)))
            if (table, record.key) not in written
        ]

    async def _other_heads(self, one: Conversation) -> list[Put | Delete]:
        """Deletions of what else is stored as the head of this conversation."""
        key = head_key(one.head)
        return [
            Delete("conversations", own)
            for own in await self._storage.keys("conversations")
            if own[-1] == one.head.id and own != key
        ]


def _beside(one: Conversation) -> Conversation:
    """The same conversation under an id of its own, which is the same whenever it is restored."""
    identity = f"{one.head.id}-{one.head.updated_at}"
    records = [replace(put, key=(identity, *put.key[1:])) for put in one.records]
    return Conversation(replace(one.head, id=identity), records)


def _batched(records: Sequence[Put]) -> Iterator[list[Put]]:
    batch: list[Put] = []
    size = 0
    for put in records:
        if batch and (len(batch) == _BATCH_RECORDS or size + len(put.value) > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(put)
        size += len(put.value)
    if batch:
        yield batch
