"""Everything in files, and back again: content only, hashes computed, the rest named."""

from __future__ import annotations

import asyncio
import io
import json
import time
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import StorageError, UsageError
from personae.package.steps import Steps, run, run_async
from personae.ports import Delete, Put, Record
from personae.storage.head import head_from_json, head_to_json
from personae.storage.library import Library
from personae.storage.records import CONVERSATION_TABLES
from personae.storage.transfer import backup as backups
from personae.storage.transfer.backup import BackupWriter
from personae.storage.transfer.backup_file import Backup, read_backup
from personae.storage.transfer.lines import BadLine, line_of, read_line, read_lines
from personae.storage.transfer.restore import Restored, Restoring
from personae.written import dumps

from tests.fakes import FakeClock, FakeStorage, World

NOW = 2_000_000
FILES = {"config.json": b'{"name": "Mara"}', "instructions.txt": b"Speak softly."}
TABLES = ("packages", "files", "conversations", *CONVERSATION_TABLES)


def head(identity: str = "c", **fields: Any) -> str:
    made = {"id": identity, "characterId": "p", "createdAt": 1, "updatedAt": 100} | fields
    return dumps(head_to_json(head_from_json(made)))


def entry(number: int, text: str) -> Put:
    identity = f"e{number:010d}"
    value = {"id": identity, "role": "user", "content": text, "at": 1}
    return Put("entries", ("c", identity), json.dumps(value, ensure_ascii=False))


async def filled(*texts: str, updated: int = 100) -> FakeStorage:
    """A character, its conversation with a store and a log, and settings with a key."""
    storage = FakeStorage()
    world = World()
    await Library(storage, FakeClock(), world.locks.lock).save(FILES)
    await storage.commit(
        [
            Put("conversations", ("p", "c"), head(updatedAt=updated)),
            *(entry(number, text) for number, text in enumerate(texts or ("hi",))),
            Put("stores", ("c", "agent"), '{"version":1}\n{"n":"é"}'),
            Put("logs", ("c", "agent", 3), "{}"),
            Put("world", ("c", "m1", "data", "plugin", "name", "key"), "{}"),
            Put("commits", ("c", 1), "{}"),
            Put("artifacts", ("c", "a"), "{}"),
            Put("settings", ("app",), '{"base_url": "https://m.example/v1", "temperature": 1}'),
            Put("settings", ("origin_key", "https://m.example"), '"sk-very-secret"'),
        ]
    )
    return storage


async def written(storage: FakeStorage, **kept: Any) -> bytes:
    [part] = [part async for part in BackupWriter(storage, kept).parts()]
    return part


def read(data: bytes) -> Backup:
    return run(read_backup(data, NOW))


async def restored(storage: FakeStorage, data: bytes) -> Restored:
    return await Restoring(storage, read(data)).run()


def content(storage: FakeStorage) -> dict[str, Any]:
    return {name: storage.tables.get(name, {}) for name in TABLES}


def repacked(data: bytes, **changes: bytes) -> bytes:
    """The archive with other contents; a name's dots and slashes are underscores."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            new.writestr(
                name, changes.get(name.replace(".", "_").replace("/", "_"), old.read(name))
            )
    return target.getvalue()


def archive(files: Mapping[str, bytes], version: int = 2) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("backup.json", json.dumps({"format": backups.FORMAT, "version": version}))
        for name, data in files.items():
            made.writestr(name, data)
    return target.getvalue()


async def test_a_backup_brings_all_content_back_and_nothing_else() -> None:
    before = await filled("one", "two")
    data = await written(before, temperature=0.5)
    with zipfile.ZipFile(io.BytesIO(data)) as made:
        everything = b"".join(map(made.read, made.namelist()))
    assert b"sk-very-secret" not in everything
    assert b"m.example" not in everything
    after = FakeStorage()
    found = await restored(after, data)
    assert (len(found.characters), found.conversations) == (1, 1)
    assert content(after) == content(before)
    assert "settings" not in after.tables
    assert (read(data).settings, read(data).unreadable) == ({"temperature": 0.5}, [])


async def test_a_newer_conversation_stays_and_an_older_one_is_replaced() -> None:
    data = await written(await filled("hi", "there", updated=100))
    newer, older = await filled("new", updated=200), await filled("hi", updated=50)
    assert (await restored(newer, data)).conversations == 0
    assert [value["content"] for value in newer.json("entries").values()] == ["new"]
    assert (await restored(older, data)).conversations == 1
    assert [value["content"] for value in older.json("entries").values()] == ["hi", "there"]


def said_in(storage: FakeStorage) -> dict[Any, list[str]]:
    """What is said in each conversation, by the head's key."""
    return {
        head: [
            value["content"]
            for key, value in sorted(storage.json("entries").items())
            if key[0] == head[-1]
        ]
        for head in storage.tables["conversations"]
    }


async def test_a_conversation_that_went_on_differently_stays_beside_the_restored_one() -> None:
    data = await written(await filled("hi", updated=100))
    storage = await filled("hi", "and more", updated=50)
    assert (await restored(storage, data)).conversations == 1
    both = {("p", "c"): ["hi", "and more"], ("p", "c-100"): ["hi"]}
    assert said_in(storage) == both
    assert {key[1] for key in storage.tables["stores"] if key[0] == "c-100"} == {"agent"}
    assert (await restored(storage, data)).conversations == 0, "it is here by now"
    assert said_in(storage) == both


async def test_a_conversation_of_another_character_takes_none_of_that_name_away() -> None:
    made = dumps({"id": "c", "characterId": "evil", "createdAt": 1, "updatedAt": 10**14})
    data = repacked(
        await written(await filled("hi")),
        conversations_1_jsonl=line_of(Record(("evil", "c"), made)),
    )
    storage = await filled("hi", updated=50)
    await restored(storage, data)
    assert said_in(storage) == {("p", "c"): ["hi"], ("evil", f"c-{NOW}"): ["hi"]}


async def test_what_was_spent_in_a_conversation_stays_spent() -> None:
    data = await written(await filled("hi", "there", updated=100))
    storage = await filled("hi", updated=50)
    await storage.commit([Put("conversations", ("p", "c"), head(updatedAt=50, tokensSpent=900))])
    await restored(storage, data)
    assert storage.json("conversations")[("p", "c")]["tokensSpent"] == 900


async def test_a_character_that_is_here_stays_and_gets_lost_files_back() -> None:
    storage = await filled()
    data = await written(storage)
    [key, *_] = storage.tables["files"]
    await storage.commit([Delete("files", key)])
    record = dict(storage.tables["packages"])
    assert (await restored(storage, data)).characters == []
    assert (storage.tables["packages"], key in storage.tables["files"]) == (record, True)


@pytest.mark.parametrize("kind", ["no zip", "another zip", "newer", "about is no object"])
async def test_what_is_no_backup_is_refused_before_anything_is_written(kind: str) -> None:
    data = archive({}, version=99 if kind == "newer" else 2)
    if kind == "no zip":
        data = b"hello"
    elif kind == "another zip":
        data = repacked(data, backup_json=b"{}")
    elif kind == "about is no object":
        data = repacked(data, backup_json=b"[]")
    with pytest.raises(UsageError, match="not a backup"):
        read(data)


# Hashes are computed


async def test_a_file_under_the_hash_of_another_is_not_taken() -> None:
    storage = await filled()
    honest = next(key[0] for key, value in storage.tables["files"].items() if b"softly" in value)
    data = repacked(await written(storage), **{f"files_{honest}": b"Obey me."})
    found = read(data)
    assert (found.characters, honest in found.contents) == ([], False)
    assert any(f"files/{honest}" in words for words in found.unreadable)
    after = FakeStorage()
    await restored(after, data)
    assert content(after)["files"] == {}


async def test_a_character_under_the_identity_of_another_is_not_taken() -> None:
    storage = await filled()
    [value] = storage.tables["packages"].values()
    record = json.loads(value)
    for claimed, source in (("content-0123", None), ("link-0123", "https://honest.example/x.zip")):
        false = {**record, "id": claimed, "source": source}
        line = line_of(Record((claimed,), json.dumps(false)))
        data = repacked(await written(storage), packages_1_jsonl=line)
        assert read(data).characters == []


async def test_a_stored_file_that_is_another_is_not_opened_and_heals() -> None:
    """As a version that believed names has left it behind."""
    storage, world = await filled(), World()
    library = Library(storage, FakeClock(), world.locks.lock)
    [identity] = [key[0] for key in storage.tables["packages"]]
    bad = next(key for key, value in storage.tables["files"].items() if b"softly" in value)
    storage.tables["files"][bad] = b"Obey me."
    with pytest.raises(StorageError, match="not the one that was stored"):
        await library.open(identity)
    assert bad not in storage.tables["files"]
    assert await library.save(FILES) == identity
    again = Library(storage, FakeClock(), world.locks.lock)
    assert (await again.open(identity)).instructions == "Speak softly."


# Money and access


async def test_what_was_spent_is_never_less_than_nothing() -> None:
    storage = await filled()
    line = line_of(Record(("p", "c"), head(tokensSpent=-(10**9), updatedAt=10**14)))
    after = FakeStorage()
    await restored(after, repacked(await written(storage), conversations_1_jsonl=line))
    [found] = after.json("conversations").values()
    assert (found["tokensSpent"], found["updatedAt"]) == (0, NOW)


async def test_an_old_backup_is_readable_and_its_settings_stay_outside() -> None:
    """Version 1: a file per table, settings among them."""
    settings = {"base_url": "https://evil.example/v1", "cap_response": 9, "temperature": 0.2}
    storage = await filled("said")
    for table in ("world", "commits", "artifacts"):
        del storage.tables[table]
    by_name: dict[str, bytes] = {
        f"{table}.jsonl": b"".join(
            line_of(Record(key, value)) for key, value in storage.tables[table].items()
        )
        for table in ("packages", "conversations", "entries", "stores")
    }
    # The agents' logs were among the stores.
    by_name["stores.jsonl"] += line_of(Record(("c", "agent", "log", 3), "{}"))
    by_name["settings.jsonl"] = line_of(Record(("app",), json.dumps(settings)))
    by_name["settings.jsonl"] += line_of(Record(("api_key",), '"sk-evil"'))
    for key, value in storage.tables["files"].items():
        by_name[f"files/{key[0]}"] = bytes(value)
    data = archive(by_name, version=1)
    after = FakeStorage()
    await restored(after, data)
    assert content(after) == content(storage)
    assert "settings" not in after.tables
    assert read(data).settings == settings


# Lines


SEPARATORS = "\u2028\u2029\x85\x0b\x0c\x1c\x1d\x1e\r\n"
TEXTS = st.text(
    st.one_of(st.characters(), st.sampled_from(SEPARATORS + '"\\\ud83d\ude00'), st.just("\ud800")),
    max_size=60,
)
KEYS = st.lists(st.one_of(TEXTS, st.integers(-5, 10**15)), min_size=1, max_size=4).map(tuple)


@given(st.lists(st.tuples(KEYS, TEXTS), max_size=8))
def test_what_is_written_in_lines_comes_back_whatever_it_holds(records: list[Any]) -> None:
    data = b"".join(line_of(Record(key, value)) for key, value in records)
    found: list[Any] = []

    def take(key: Any, value: str) -> Steps[None]:
        found.append((key, value))
        yield "reading", 0, 0

    assert (run(read_lines(data, take)), found) == (0, records)


@settings(max_examples=20, deadline=None)
@given(TEXTS, st.integers(0, 12), st.sampled_from(['\\"', "\\\\", "\ud83d", "\u2028", "a"]))
def test_long_lines_are_read_in_pieces_and_come_back_the_same(
    text: str, shift: int, filler: str
) -> None:
    value = "x" * shift + filler * (300_000 // len(filler)) + text
    line = line_of(Record(("c", "agent"), value))
    assert run(read_line(line, (0, len(line) - 1))) == (("c", "agent"), value)


def test_escaped_pairs_that_are_read_apart_become_one_character() -> None:
    for shift in range(14):
        value = "x" * shift + "\U0001f600" * 50_000
        line = json.dumps({"key": ["c"], "value": value}).encode()
        assert run(read_line(line, (0, len(line)))) == (("c",), value)


@pytest.mark.parametrize(
    "line", [b"{", b"5", b'{"key": [], "value": ""}', b'{"key": ["a"], "value": 5}',
             b'{"key": [true], "value": ""}', b'{"key": [[]], "value": ""}', b"[" * 100_000,
             b"x" * 300_000, b'{"key": ["a"], "value": "' + b"x" * 300_000, b"\xff\xfe"]
)  # fmt: skip
def test_what_is_no_record_is_a_bad_line(line: bytes) -> None:
    with pytest.raises(BadLine):
        run(read_line(line, (0, len(line))))


# Damage


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_damage_costs_what_is_damaged_and_nothing_else(data: st.DataObject) -> None:
    texts = [f"message {number}{SEPARATORS}" for number in range(12)]
    whole = asyncio.run(make(texts))
    with zipfile.ZipFile(io.BytesIO(whole)) as made:
        lines = made.read("entries/1.jsonl").split(b"\n")[:-1]
    bad = data.draw(st.sets(st.integers(0, len(lines) - 1), max_size=6))
    junk = data.draw(st.lists(st.binary(max_size=20), max_size=3))
    broken = [
        data.draw(st.sampled_from([b"{", b"\xff", line[: len(line) // 2], b'{"key": 1}']))
        if number in bad
        else line
        for number, line in enumerate(lines)
    ]
    noise = [piece.replace(b"\n", b"") for piece in junk]
    found = read(repacked(whole, entries_1_jsonl=b"\n".join(broken + noise)))
    kept = [json.loads(put.value)["content"] for put in found.conversations["c"].records
            if put.table == "entries"]  # fmt: skip
    assert kept == [text for number, text in enumerate(texts) if number not in bad]
    worthless = len(bad) + sum(bool(piece.strip()) for piece in noise)
    named = [words for words in found.unreadable if words.startswith("entries/1.jsonl")]
    assert named == ([f"entries/1.jsonl: {worthless} of its records"] if worthless else [])


async def make(texts: list[str]) -> bytes:
    return await written(await filled(*texts))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(["packages", "conversations", "entries", "stores"]))
def test_no_bytes_of_a_table_bring_reading_down(junk: bytes, table: str) -> None:
    found = read(archive({f"{table}.jsonl": junk}, version=1))
    assert (found.characters, found.conversations) == ([], {})


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = ("id", "characterId", "updatedAt", "createdAt", "files", "path", "hash", "name", "at",
          "role", "content", "edit", "tokensSpent", "source", "openedAt", "size")  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=10),
    KEYS,
    st.sampled_from(["packages", "conversations", *CONVERSATION_TABLES, "settings"]),
)
def test_no_record_brings_reading_down(value: Any, key: Any, table: str) -> None:
    shaped = {"id": key[0], "files": [], "openedAt": 1, **value}
    for made in (value, shaped, [value]):
        read(archive({f"{table}.jsonl": line_of(Record(key, json.dumps(made)))}, version=1))


async def test_a_damaged_entry_of_the_archive_does_not_take_the_rest_along() -> None:
    whole = await written(await filled("said"))
    spoiled = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as made:
        info = made.getinfo("stores/1.jsonl")
    start = info.header_offset + 30 + len(info.filename)
    spoiled[start + 4] ^= 0xFF
    found = read(bytes(spoiled))
    tables = {put.table for put in found.conversations["c"].records}
    assert tables == set(CONVERSATION_TABLES) - {"stores"}
    assert any("stores/1.jsonl" in words for words in found.unreadable)


# Limits, steps


async def test_a_bomb_is_read_no_further_than_the_limit_and_in_steps() -> None:
    line = line_of(Record(("c", "agent"), "x" * (1 << 20)))
    data = archive({f"stores/{number}.jsonl": line * 16 for number in range(12)})
    assert len(data) < 1_200_000
    steps, longest, start = read_backup(data, NOW), 0.0, time.process_time()
    with pytest.raises(StopIteration) as end:
        while True:
            next(steps)
            now = time.process_time()
            longest, start = max(longest, now - start), now
    found = end.value.value
    assert any("inflates to over" in words for words in found.unreadable)
    assert longest < 0.25


async def test_reading_can_be_stopped() -> None:
    line = line_of(Record(("c", "agent"), "x" * (1 << 20)))
    data = archive({f"stores/{number}.jsonl": line * 16 for number in range(4)})
    heard = asyncio.Event()
    reading = asyncio.ensure_future(
        run_async(read_backup(data, NOW), lambda phase, done, total: heard.set())
    )
    await heard.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def test_what_was_stopped_leaves_nothing_of_a_new_conversation_behind() -> None:
    data = await written(await filled(*["x" * 10_000] * 500))
    after = FakeStorage()

    def refuse(writes: Any) -> None:
        if any(write.table == "conversations" for write in writes):
            raise StorageError("storage_full", "full")

    after.on_commit = refuse
    with pytest.raises(StorageError):
        await restored(after, data)
    assert not any(content(after)[table] for table in CONVERSATION_TABLES)
    assert max(len(writes) for writes in after.commits) <= 200


async def test_what_is_too_much_for_one_file_goes_into_several(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backups, "PART_BYTES", 20_000)
    storage = await filled("hi")
    for number in range(6):
        identity = f"d{number}"
        key = (identity, "e0000000000")
        said = {"id": key[1], "role": "user", "content": "y" * 8_000, "at": 1}
        await storage.commit(
            [
                Put("conversations", ("p", identity), head(identity)),
                Put("entries", key, json.dumps(said)),
            ]
        )
    parts = [part async for part in BackupWriter(storage, {}).parts()]
    assert len(parts) > 2
    after = FakeStorage()
    for part in reversed(parts):
        await restored(after, part)
    assert content(after) == content(storage)


async def test_what_no_file_can_hold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups, "MAX_INFLATED_BYTES", backups._ROOM + 5_000)
    storage = await filled("hi")
    await storage.commit(
        [Put("conversations", ("p", "c"), head(title="Endless")), entry(1, "y" * 9_000)]
    )
    writer = BackupWriter(storage, {})
    [part] = [part async for part in writer.parts()]
    assert (writer.left_out, len(read(part).characters)) == (["Endless"], 1)


def test_the_backup_of_an_older_version_with_every_separator_opens() -> None:
    """As version 0.1.0 wrote it: separators of Unicode stand unescaped in the lines."""
    said = f"A line{SEPARATORS}ends."
    inner = json.dumps({"id": "e1", "role": "user", "content": said, "at": 1}, ensure_ascii=False)
    entries = json.dumps({"key": ["c", "e1"], "value": inner}, ensure_ascii=False) + "\n"
    heads = json.dumps({"key": ["p", "c"], "value": head()}, ensure_ascii=False) + "\n"
    files = {"conversations.jsonl": heads.encode(), "entries.jsonl": entries.encode()}
    [put] = read(archive(files, version=1)).conversations["c"].records
    assert json.loads(put.value)["content"] == said
