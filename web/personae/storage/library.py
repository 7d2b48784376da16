"""The characters loaded so far, kept with all their files so that they open offline.

Reference: Loading a character package. A record lists a character's files by content hash; each
distinct content is stored once. Invariants: a record is written with or after the files it names,
and a file is deleted only when no record names it any more; a hash is computed from what it stands
for, and a package that is opened is the one that was stored. A package that cannot be kept can be
played all the same: it stays in memory, and every ``list`` tries again to keep it. A damaged record
is left as it is, and the files that it may name too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from personae.conversation.numbers import LARGEST
from personae.errors import PackageError, StorageError, UsageError
from personae.package.archive.files import open_files
from personae.package.identity import author_of, known, own_identity, predecessor
from personae.package.load import load_package_async
from personae.package.model import Package
from personae.package.report import Report
from personae.package.sources import Contents, character_id
from personae.package.steps import Install, Progress, Steps, run_async
from personae.ports import Clock, Delete, Key, Put, Query, Record, Storage
from personae.storage.leases import FILES, Lock, files_alone
from personae.storage.records import loads
from personae.written import dumps

Rows = list[dict[str, Any]]
Writes = list[Put | Delete]

BATCH = 1_000_000
"""Bytes of files in one transaction: more would hold the page up."""
READS = 32
"""Files that are read at a time."""
_HASHED = 1 << 20
"""Bytes hashed in one step."""


Ask = Callable[[Mapping[str, Any]], Awaitable[bool]]
"""Whether a package is the next version of a stored character, as ``list`` gives it."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A character that was removed, whole."""

    record: dict[str, Any]
    files: Mapping[str, bytes]


class Library:
    def __init__(
        self, storage: Storage, clock: Clock, lock: Lock, install: Install | None = None
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._lock = lock
        self._install = install
        """See ``Environment.install``."""
        self._unstored: dict[str, tuple[dict[str, Any], Mapping[str, bytes], Package]] = {}
        """Character id -> record, files and package that could not be kept."""
        self._saved: tuple[str, Package] | None = None
        """What was saved last, for the opening that follows."""
        self.damaged = 0
        """How many records could not be read when they were read last."""

    async def save(
        self,
        package: Contents,
        source: str | None = None,
        progress: Progress | None = None,
        *,
        known_as: str | None = None,
        is_next: Ask | None = None,
    ) -> str:
        """Keeps a package, in storage or else in memory; its character id.

        ``source``: the link or the folder it came from, if any. ``known_as``: whose next version
        it is for sure; ``is_next`` is asked where it may be one. Raises PackageError when it
        cannot be played.
        """
        files = (await run_async(open_files(package, Report()), progress)).files
        loaded = await load_package_async(files, progress, self._install)
        identity = known_as or await self._identity(source, loaded, is_next)
        hashes = await run_async(hash_all(files), progress)
        record = {
            "id": identity,
            "name": loaded.name,
            "description": loaded.description,
            "author": author_of(loaded),
            "source": source,
            "size": sum(len(data) for data in files.values()),
            "digest": loaded.digest,
            "openedAt": self._clock.now(),
            "files": [{"path": path, "hash": digest} for path, digest in hashes.items()],
        }
        self._unstored[identity] = record, files, loaded
        with suppress(StorageError):
            await self._store(identity)
        self._saved = identity, loaded
        return identity

    async def _identity(self, source: str | None, package: Package, is_next: Ask | None) -> str:
        """Which character a package is; see ``package.identity``."""
        try:
            rows = await self.list()
        except StorageError:
            return character_id(source, package.digest)
        found = known(rows, source, package)
        if found is None and is_next is not None:
            before = predecessor(rows, source, package)
            if before is not None and await is_next(before):
                found = str(before["id"])
        return found or own_identity(rows, source, package)

    async def find(self, identity: str) -> dict[str, Any] | None:
        """A character's record, with its files as ``[{path, hash}]``; None: there is none.

        Raises StorageError, unless the character is in memory only.
        """
        if identity in self._unstored:
            return self._unstored[identity][0]
        return await self._find(identity)

    def is_unstored(self, identity: str) -> bool:
        """Whether a character is in memory only."""
        return identity in self._unstored

    async def list(self) -> Rows:
        """``[{id, name, description, source, size, digest, openedAt}]``, last opened first.

        Those in memory are among them. Raises StorageError only when nothing can be listed.
        """
        for identity in tuple(self._unstored):
            with suppress(StorageError):
                await self._store(identity)
        unstored = [record for record, _, _ in self._unstored.values()]
        try:
            stored = [item for item in await self._records() if item["id"] not in self._unstored]
        except StorageError:
            if not unstored:
                raise
            stored = []
        records = [
            {key: value for key, value in record.items() if key != "files"}
            for record in (*stored, *unstored)
        ]
        return sorted(records, key=lambda record: record["openedAt"], reverse=True)

    async def open(self, identity: str, progress: Progress | None = None) -> Package:
        """The stored package. Raises UsageError ``unknown_character``, StorageError."""
        saved, self._saved = self._saved, None
        if identity in self._unstored:
            return self._unstored[identity][2]
        if saved is not None and saved[0] == identity:
            return saved[1]
        record = await self._find(identity)
        if record is None:
            raise UsageError("unknown_character", f"The library has no character {identity!r}.")
        files = await self._files(record["files"])
        package = await self._load(record, files, progress)
        opened = {**record, "openedAt": self._clock.now()}
        with suppress(StorageError):  # only the order of the list is at stake
            await self._storage.commit([Put("packages", (identity,), dumps(opened))])
        return package

    async def _load(
        self, record: Mapping[str, Any], files: Mapping[str, bytes], progress: Progress | None
    ) -> Package:
        """The package of a record. Raises StorageError when it is not what was stored.

        Loading computes the digest of all contents, so that the check costs nothing.
        """
        try:
            package = await load_package_async(files, progress, self._install)
        except PackageError:
            if not await self._drop_false(record, files, progress):
                raise
        else:
            if package.digest == record.get("digest", package.digest):
                return package
            await self._drop_false(record, files, progress)
        raise StorageError(
            "file_damaged",
            "A file of this stored character is not the one that was stored. Load the character "
            "again from its link or file.",
        )

    async def _drop_false(
        self, record: Mapping[str, Any], files: Mapping[str, bytes], progress: Progress | None
    ) -> bool:
        """Removes what is stored under the hash of something else; whether there was any."""
        hashes = await run_async(hash_all(files), progress)
        false = {item["hash"] for item in record["files"] if hashes[item["path"]] != item["hash"]}
        await self._storage.commit([Delete("files", (digest,)) for digest in sorted(false)])
        return bool(false)

    async def keep_for_undo(self, identity: str) -> Removed | None:
        """A character as ``bring_back`` needs it, before it is removed; None: it is damaged."""
        if identity in self._unstored:
            record, files, _ = self._unstored[identity]
            return Removed(record, files)
        try:
            found = await self._find(identity)
            return None if found is None else Removed(found, await self._files(found["files"]))
        except StorageError:
            return None

    async def bring_back(self, removed: Removed) -> None:
        """Undoes ``remove``; one that was loaded again meanwhile stays as it is."""
        identity = str(removed.record["id"])
        if await self.find(identity) is None:
            package = await load_package_async(removed.files, None, self._install)
            self._unstored[identity] = dict(removed.record), removed.files, package
            with suppress(StorageError):
                await self._store(identity)

    async def remove(self, identity: str) -> None:
        """Forgets a character and its files; its conversations stay."""
        self._unstored.pop(identity, None)
        async with files_alone(self._lock, self._clock):
            record = await self._find(identity)
            if record is not None:
                writes = [
                    Delete("packages", (identity,)),
                    *await self._orphans(identity, record, set()),
                ]
                await self._storage.commit(writes)

    async def tidy(self) -> None:
        """Removes the files that a killed tab had written of a package it did not finish.

        While another tab writes files there is nothing to say about them: a later start does it.
        """
        lease = await self._lock(FILES)
        if lease is None:
            return
        try:
            named = await self._known_hashes()
            stray = [key for key in await self._storage.keys("files") if key[0] not in named]
            if stray and not self.damaged:
                await self._storage.commit([Delete("files", key) for key in stray])
        finally:
            lease.release()

    async def _store(self, identity: str) -> None:
        """Writes a package that is in memory. Raises StorageError; then nothing has changed."""
        async with files_alone(self._lock, self._clock):
            if identity in self._unstored:
                await self._write(identity)

    async def _write(self, identity: str) -> None:
        record, files, _ = self._unstored[identity]
        hashes = {item["path"]: item["hash"] for item in record["files"]}
        known = {key[0] for key in await self._storage.keys("files")}
        new = {hashes[path]: data for path, data in files.items() if hashes[path] not in known}
        replaced = await self._find(identity)
        *early, last = batches(new)
        written: Writes = []
        try:
            for batch in early:
                await self._storage.commit(batch)
                written += [Delete("files", write.key) for write in batch]
            last.append(Put("packages", (identity,), dumps(record)))
            last += await self._orphans(identity, replaced, set(hashes.values()))
            await self._storage.commit(last)
        except StorageError:
            with suppress(StorageError):
                await self._storage.commit(written)
            raise
        self._unstored.pop(identity, None)

    async def _records(self) -> Rows:
        found = [parsed(record) for record in await self._storage.read(Query("packages"))]
        readable = [record for record in found if record is not None]
        self.damaged = len(found) - len(readable)
        return readable

    async def _find(self, identity: str) -> dict[str, Any] | None:
        found = await self._storage.read(Query("packages", (identity,)))
        return parsed(found[0]) if found else None

    async def _files(self, items: Sequence[Mapping[str, str]]) -> dict[str, bytes]:
        """The contents by path; several reads at a time."""
        files: dict[str, bytes] = {}
        for start in range(0, len(items), READS):
            some = items[start : start + READS]
            contents = await asyncio.gather(*(self._file(item["hash"]) for item in some))
            files |= {item["path"]: data for item, data in zip(some, contents, strict=True)}
        return files

    async def _file(self, digest: str) -> bytes:
        found = await self._storage.read(Query("files", (digest,)))
        if not found or not isinstance(found[0].value, bytes):
            raise StorageError(
                "file_missing",
                "A file of this stored character is gone. Load the character again.",
            )
        return found[0].value

    async def _known_hashes(self) -> set[str]:
        return {item["hash"] for record in await self._records() for item in record["files"]}

    async def _orphans(
        self, identity: str, record: dict[str, Any] | None, kept: set[str]
    ) -> Writes:
        """Deletions of the record's files that no other record and not ``kept`` names."""
        if record is None:
            return []
        records = await self._records()
        if self.damaged:
            return []
        others = {
            item["hash"] for other in records if other["id"] != identity for item in other["files"]
        }
        gone = {item["hash"] for item in record["files"]} - others - kept
        return [Delete("files", (digest,)) for digest in sorted(gone)]


def parsed(record: Record) -> dict[str, Any] | None:
    """The record when it is whole, else None."""
    try:
        return whole(loads(record.value), record.key)
    except StorageError:
        return None


def whole(value: Any, key: Key) -> dict[str, Any] | None:
    """A record's value when nothing of it is missing, else None."""
    try:
        is_whole = (
            (value["id"],) == key
            and type(value["openedAt"]) is int
            and abs(value["openedAt"]) <= LARGEST
            and {"name", "description", "source", "size"} <= value.keys()
            and all(
                isinstance(item["path"], str) and isinstance(item["hash"], str)
                for item in value["files"]
            )
        )
    except (TypeError, KeyError, AttributeError):
        return None
    return value if is_whole else None


def batches(files: Mapping[str, bytes]) -> list[Writes]:
    """The writes of the contents by hash, cut where one transaction would hold the page up."""
    groups: list[Writes] = [[]]
    size = 0
    for digest, data in files.items():
        if groups[-1] and size + len(data) > BATCH:
            groups.append([])
            size = 0
        groups[-1].append(Put("files", (digest,), bytes(data)))
        size += len(data)
    return groups


def hash_all(files: Mapping[str, bytes]) -> Steps[dict[str, str]]:
    """The hash of each path's content."""
    hashes = {}
    for done, (path, data) in enumerate(files.items()):
        yield "hashing", done, len(files)
        hashes[path] = yield from content_hash(data)
    return hashes


def content_hash(data: bytes) -> Steps[str]:
    from hashlib import blake2b

    total = blake2b(digest_size=32)
    for start in range(0, len(data), _HASHED):
        total.update(data[start : start + _HASHED])
        yield "hashing", start, len(data)
    return total.hexdigest()
