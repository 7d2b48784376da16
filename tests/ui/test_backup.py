"""Everything in one file, and back again."""

from __future__ import annotations

import io
import json
import zipfile

import pytest
from personae.errors import UsageError
from personae.ports import Put
from personae.ui.settings.app_settings import KEY_RECORD
from personae.ui.settings.backup import restore_backup, write_backup

from tests.fakes import FakeStorage


async def filled(*, updated: int = 100, text: str = "hi") -> FakeStorage:
    storage = FakeStorage()
    await storage.commit(
        [
            Put("packages", ("p",), json.dumps({"id": "p", "files": [{"path": "a", "hash": "h"}]})),
            Put("files", ("h",), b"\x00\xff bytes"),
            Put("conversations", ("p", "c"), json.dumps({"id": "c", "updatedAt": updated})),
            Put("entries", ("c", "e1"), json.dumps({"content": text})),
            Put("stores", ("c", "agent"), '{"version":1}\n{"n":"é"}'),
            Put("logs", ("c", "agent", 3), "{}"),
            Put("world", ("c", "m1", "data", "plugin", "name", "key"), "{}"),
            Put("commits", ("c", 1), "{}"),
            Put("artifacts", ("c", "a"), "{}"),
            Put("settings", ("app",), "{}"),
            Put("settings", KEY_RECORD, '"sk-very-secret"'),
        ]
    )
    return storage


async def test_a_backup_brings_everything_back_but_the_key() -> None:
    before = await filled()
    data = await write_backup(before)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert b"sk-very-secret" not in b"".join(map(archive.read, archive.namelist()))
    after = FakeStorage()
    assert await restore_backup(after, data) == 1
    del before.tables["settings"][KEY_RECORD]
    assert after.tables == before.tables


async def test_a_newer_conversation_stays_and_an_older_one_is_replaced() -> None:
    data = await write_backup(await filled(updated=100))
    newer, older = await filled(updated=200, text="new"), await filled(updated=50, text="old")
    await older.commit([Put("entries", ("c", "e2"), "{}")])
    assert await restore_backup(newer, data) == 0
    assert newer.json("entries")["c", "e1"] == {"content": "new"}
    assert await restore_backup(older, data) == 1
    assert older.json("entries") == {("c", "e1"): {"content": "hi"}}


async def test_a_backup_of_version_1_comes_back_with_its_logs() -> None:
    """It was made when the agents' logs were kept among the stores."""
    lines = {
        "packages": [],
        "settings": [],
        "conversations": [(["p", "c"], '{"id":"c","updatedAt":1}')],
        "entries": [(["c", "e1"], "{}")],
        "stores": [(["c", "agent"], '{"version":1}\n{}'), (["c", "agent", "log", 3], "{}")],
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("backup.json", '{"format": "personae-backup", "version": 1}')
        for table, records in lines.items():
            text = "".join(json.dumps({"key": k, "value": v}) + "\n" for k, v in records)
            archive.writestr(f"{table}.jsonl", text)
    storage = FakeStorage()
    await storage.commit([Put("logs", ("c", "agent", 1), "replaced")])
    assert await restore_backup(storage, target.getvalue()) == 1
    assert storage.tables["stores"] == {("c", "agent"): '{"version":1}\n{}'}
    assert storage.tables["logs"] == {("c", "agent", 3): "{}"}


@pytest.mark.parametrize("kind", ["no zip", "another zip", "newer", "cut"])
async def test_what_is_no_backup_is_refused_before_anything_is_written(kind: str) -> None:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        about = {"format": "personae-backup", "version": 99 if kind == "newer" else 1}
        archive.writestr("backup.json" if kind != "another zip" else "x", json.dumps(about))
    storage = await filled()
    before = {name: dict(table) for name, table in storage.tables.items()}
    with pytest.raises(UsageError, match="not a backup"):
        await restore_backup(storage, b"hello" if kind == "no zip" else target.getvalue())
    assert storage.tables == before
