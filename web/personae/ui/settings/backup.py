"""Everything in one file, and back again.

The file is a zip: ``backup.json`` says what it is, ``{table}.jsonl`` holds one record a line,
``files/{hash}`` the package files. It holds no key. Restoring merges: a conversation that is newer
here stays as it is. Version 1 had the agents' logs among the stores. Pure apart from the storage
that is passed in.
"""

from __future__ import annotations

import io
import json
from typing import Any

from personae.bounded_json import load_json
from personae.errors import UsageError
from personae.ports import Delete, Key, Put, Query, Record, Storage, Table
from personae.storage.records import CONVERSATION_TABLES, from_schema_1
from personae.ui.settings.app_settings import KEY_RECORD

FORMAT = "personae-backup"
VERSION = 2
_TEXT_TABLES: tuple[Table, ...] = ("packages", "conversations", "settings")


async def write_backup(storage: Storage) -> bytes:
    """The whole storage as a zip. Raises StorageError."""
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("backup.json", json.dumps({"format": FORMAT, "version": VERSION}))
        conversations = await storage.read(Query("conversations"))
        for table in _TEXT_TABLES:
            archive.writestr(f"{table}.jsonl", _lines(await storage.read(Query(table))))
        for table in CONVERSATION_TABLES:
            with archive.open(f"{table}.jsonl", "w") as lines:
                for record in conversations:
                    found = await storage.read(Query(table, record.key[1:2]))
                    lines.write(_lines(found).encode())
        for record in await storage.read(Query("packages")):
            await _write_files(archive, storage, json.loads(record.value)["files"])
    return target.getvalue()


async def _write_files(archive: Any, storage: Storage, files: list[dict[str, str]]) -> None:
    present = set(archive.namelist())
    for digest in {item["hash"] for item in files}:
        name = f"files/{digest}"
        if name not in present:
            for record in await storage.read(Query("files", (digest,))):
                archive.writestr(name, record.value)


def _lines(records: list[Record]) -> str:
    return "".join(
        json.dumps({"key": record.key, "value": record.value}, ensure_ascii=False) + "\n"
        for record in records
        if record.key != KEY_RECORD
    )


async def restore_backup(storage: Storage, data: bytes) -> int:
    """Merges a backup into the storage; how many conversations came back.

    Raises UsageError ``bad_backup`` before anything is written, StorageError while writing.
    """
    backup = _read_backup(data)
    stored = await storage.read(Query("conversations"))
    own = {record.key: _updated(record.value) for record in stored}
    older = {
        key for key, value in backup["conversations"].items() if own.get(key, -1) >= _updated(value)
    }
    await _restore_files(storage, backup["files"])
    for table in ("packages", "settings"):
        name: Table = "packages" if table == "packages" else "settings"
        await storage.commit([Put(name, key, value) for key, value in backup[table].items()])
    for key, value in backup["conversations"].items():
        if key not in older:
            await _restore_conversation(storage, backup, key, value)
    return len(backup["conversations"]) - len(older)


async def _restore_files(storage: Storage, files: dict[str, bytes]) -> None:
    for digest, content in files.items():
        if not await storage.read(Query("files", (digest,))):
            await storage.commit([Put("files", (digest,), content)])


async def _restore_conversation(
    storage: Storage, backup: dict[str, Any], key: Key, value: str
) -> None:
    """One transaction: the head with all that is its, in the place of what was there."""
    identity = key[1]
    writes: list[Put | Delete] = [Put("conversations", key, value)]
    writes += [Delete(table, (identity,), prefix=True) for table in CONVERSATION_TABLES]
    for table in CONVERSATION_TABLES:
        writes += [Put(table, own, text) for own, text in backup[table].get(identity, {}).items()]
    await storage.commit(writes)


def _read_backup(data: bytes) -> dict[str, Any]:
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = load_json(archive.read("backup.json"))
            if about.get("format") != FORMAT:
                raise ValueError("it is another kind of file")
            if about.get("version") not in (1, VERSION):
                raise ValueError("it was made by another version of the player")
            tables: dict[str, Any] = {
                name: _records(archive.read(f"{name}.jsonl")) for name in _TEXT_TABLES
            }
            tables |= _by_conversation(archive, about["version"])
            names = [name for name in archive.namelist() if name.startswith("files/")]
            tables["files"] = {name.removeprefix("files/"): archive.read(name) for name in names}
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError) as error:
        raise UsageError("bad_backup", f"This is not a backup of Personae: {error}.") from error
    return tables


def _records(lines: bytes) -> dict[Key, str]:
    found = [json.loads(line) for line in lines.decode().splitlines() if line]
    return {tuple(item["key"]): str(item["value"]) for item in found}


def _by_conversation(archive: Any, version: int) -> dict[str, dict[str | int, dict[Key, str]]]:
    """Table -> conversation -> key -> record."""
    tables: dict[str, dict[str | int, dict[Key, str]]] = {name: {} for name in CONVERSATION_TABLES}
    kept: tuple[Table, ...] = ("entries", "stores") if version == 1 else CONVERSATION_TABLES
    for name in kept:
        for key, value in _records(archive.read(f"{name}.jsonl")).items():
            table, own = from_schema_1(name, key) if version == 1 else (name, key)
            tables[table].setdefault(own[0], {})[own] = value
    return tables


def _updated(value: str | bytes) -> int:
    return int(json.loads(value).get("updatedAt", 0))
