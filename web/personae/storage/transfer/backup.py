"""Everything on this device in a file, or in several when one would be too large to read back.

The file is a zip: ``backup.json`` says what it is, ``{table}/{number}.jsonl`` holds records (see
``lines``), ``files/{hash}`` the package files. Invariants: it holds no key, no base URL, no cap and
no access; every file can be restored alone and keeps the limits that restoring has; a character is
with its files in one file, a conversation with all that belongs to it.
"""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

from personae.errors import StorageError
from personae.package.archive.unzip import MAX_ARCHIVE_BYTES, MAX_INFLATED_BYTES
from personae.package.archive.zip_directory import MAX_ENTRIES
from personae.package.steps import Progress, Steps, run_async
from personae.ports import Key, Query, Record, Storage, Table
from personae.storage.library import parsed
from personae.storage.records import CONVERSATION_TABLES, loads
from personae.storage.transfer.lines import line_of

FORMAT = "personae-backup"
VERSION = 2
PART_BYTES = 56 << 20
"""Bytes before packing that go into one file; a larger character has one for itself."""
PART_FILES = MAX_ENTRIES // 2
_PAGE = 200
_LINES = 8 << 20
"""Bytes of lines in one file of the archive."""
_CHUNK = 1 << 18
_ROOM = 1 << 20


class Unit:
    """A character with its files, or a conversation with its records."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[str, list[bytes]] = {}
        self.files: dict[str, bytes] = {}

    def add(self, table: Table, record: Record) -> None:
        self.lines.setdefault(table, []).append(line_of(record))

    @property
    def size(self) -> int:
        lines = sum(sum(map(len, lines)) for lines in self.lines.values())
        return lines + sum(map(len, self.files.values()))

    @property
    def can_be_restored(self) -> bool:
        return self.size < MAX_INFLATED_BYTES - _ROOM and len(self.files) < PART_FILES


class BackupWriter:
    """``settings``: what a backup holds of them. ``left_out`` names what no file could hold."""

    def __init__(
        self, storage: Storage, settings: Mapping[str, Any], progress: Progress | None = None
    ) -> None:
        self._storage, self._settings, self._progress = storage, settings, progress
        self._part = _Part(settings)
        self.left_out: list[str] = []

    async def parts(self) -> AsyncIterator[bytes]:
        """The files, one after the other; at least one. Raises StorageError."""
        async for unit in self._units():
            if not unit.can_be_restored:
                self.left_out.append(unit.name)
                continue
            if not self._part.has_room_for(unit):
                yield await self._finished()
            await run_async(self._part.add(unit))
            if self._part.size > MAX_ARCHIVE_BYTES:  # it was alone
                self.left_out.append(unit.name)
                self._part = _Part(self._settings)
        yield await self._finished()

    async def _finished(self) -> bytes:
        part, self._part = self._part, _Part(self._settings)
        return await run_async(part.close())

    async def _units(self) -> AsyncIterator[Unit]:
        packages = await self._storage.read(Query("packages"))
        heads = await self._storage.read(Query("conversations"))
        for done, record in enumerate((*packages, *heads)):
            if self._progress is not None:
                self._progress("saving", done, len(packages) + len(heads))
            is_head = done >= len(packages)
            unit = await (self._conversation(record) if is_head else self._character(record))
            if unit is not None:
                yield unit

    async def _character(self, record: Record) -> Unit | None:
        """A character; None for a damaged record, which no restoring could use."""
        found = parsed(record)
        if found is None:
            return None
        unit = Unit(str(found["name"]))
        unit.add("packages", record)
        for item in found["files"]:
            for file in await self._storage.read(Query("files", (item["hash"],))):
                if isinstance(file.value, bytes):
                    unit.files[item["hash"]] = file.value
        return unit

    async def _conversation(self, head: Record) -> Unit:
        identity = head.key[-1]
        unit = Unit(_title(head))
        unit.add("conversations", head)
        for table in CONVERSATION_TABLES:
            before: Key | None = None
            while True:
                page = await self._storage.read(Query(table, (identity,), _PAGE, before))
                for record in page:
                    unit.add(table, record)
                await asyncio.sleep(0)
                if len(page) < _PAGE:
                    break
                before = page[0].key
        return unit


class _Part:
    """One zip file that is being written, in steps of a few milliseconds."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._target = io.BytesIO()
        self._archive = zipfile.ZipFile(self._target, "w", zipfile.ZIP_DEFLATED)
        about = {"format": FORMAT, "version": VERSION, "settings": dict(settings)}
        self._archive.writestr("backup.json", json.dumps(about))
        self._lines: dict[str, list[bytes]] = {}
        self._waiting = 0
        self._written = Counter[str]()
        self._raw = 0
        self._files: set[str] = set()

    @property
    def size(self) -> int:
        return self._target.tell()

    def has_room_for(self, unit: Unit) -> bool:
        more = len(self._files) + len(unit.files)
        return self._raw == 0 or (self._raw + unit.size <= PART_BYTES and more <= PART_FILES)

    def add(self, unit: Unit) -> Steps[None]:
        self._raw += unit.size
        for table, lines in unit.lines.items():
            for line in lines:
                self._lines.setdefault(table, []).append(line)
                self._waiting += len(line)
                if self._waiting > _LINES:
                    yield from self._flush()
        for digest, content in unit.files.items():
            if digest not in self._files:
                self._files.add(digest)
                yield from self._write(f"files/{digest}", content)

    def close(self) -> Steps[bytes]:
        yield from self._flush()
        self._archive.close()
        return self._target.getvalue()

    def _flush(self) -> Steps[None]:
        for table, lines in self._lines.items():
            self._written[table] += 1
            yield from self._write(f"{table}/{self._written[table]}.jsonl", b"".join(lines))
        self._lines.clear()
        self._waiting = 0

    def _write(self, name: str, content: bytes) -> Steps[None]:
        with self._archive.open(name, "w") as file:
            for start in range(0, len(content), _CHUNK):
                file.write(content[start : start + _CHUNK])
                yield "saving", start, len(content)


def _title(head: Record) -> str:
    try:
        return str(loads(head.value).get("title") or "a conversation")
    except (StorageError, AttributeError):
        return "a conversation"
