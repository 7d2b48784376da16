"""What a backup holds, judged before anything of it is written.

Invariants: whatever cannot be read, or is not what it says it is, is left out and named, and
the rest comes back; hashes and identities are computed from the contents; nothing but characters,
conversations and harmless settings comes out, whatever else the file holds; an archive keeps the
limits of a package's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from personae.bounded_json import MAX_STORE_DEPTH, check_depth, load_json
from personae.conversation.entry_json import entry_from_json
from personae.errors import PackageError, StorageError, UsageError
from personae.package.archive.paths import UnsafeName, clean_path
from personae.package.archive.unzip import read_readable
from personae.package.config import LONGEST_NAME
from personae.package.identity import may_be
from personae.package.load import contents_digest
from personae.package.report import Report
from personae.package.steps import Steps
from personae.ports import Key, Put, Record, Table
from personae.storage.head import Head, head_from_json
from personae.storage.library import content_hash, whole
from personae.storage.records import CONVERSATION_TABLES, from_schema_1, store_from_record
from personae.storage.transfer.backup import FORMAT, VERSION
from personae.storage.transfer.json_in_steps import read_json
from personae.storage.transfer.lines import BadLine, read_lines
from personae.unicode import plain, plain_line

_SHORT = 1 << 16
"""Characters that are read in one go."""
_FIRST_LINE = 200
"""Characters that hold the first line of a store's record."""
_TABLES: dict[str, Table] = {name: name for name in CONVERSATION_TABLES}


@dataclass(slots=True)
class Character:
    record: dict[str, Any]
    contents: dict[str, bytes]
    """The files by the hash of what they hold."""

    @property
    def id(self) -> str:
        return str(self.record["id"])


@dataclass(slots=True)
class Conversation:
    head: Head
    records: list[Put] = field(default_factory=list)


@dataclass(slots=True)
class Backup:
    characters: list[Character] = field(default_factory=list)
    conversations: dict[str, Conversation] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    """As the file has them; what of them may come back is for ``app_settings`` to say."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """All package files, by the hash of what they hold."""
    unreadable: list[str] = field(default_factory=list)
    """What was left out, in words."""


def read_backup(data: bytes, now: int) -> Steps[Backup]:
    """``now``: milliseconds since the epoch. Raises UsageError ``bad_backup``."""
    report = Report()
    try:
        files = yield from read_readable(data, report)
    except PackageError as error:
        reason = "; ".join(problem["message"] for problem in error.detail["problems"][:3])
        raise _bad(reason) from error
    backup = Backup()
    about = _about(files)
    if about["version"] == VERSION:
        backup.settings = _mapping(about.get("settings"))
    for problem in report.errors:
        backup.unreadable.append(f"{problem.file}: {problem.message}")
    yield from _read_contents(files, backup)
    heads_first = sorted(files, key=lambda name: not name.startswith("conversations"))
    for name in heads_first:
        yield from _read_table(name, files[name], backup, now)
    return backup


def _about(files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        about = load_json(files["backup.json"])
    except (KeyError, ValueError) as error:
        raise _bad("it is another kind of file") from error
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise _bad("it is another kind of file")
    if about.get("version") not in (1, VERSION):
        raise _bad("it was made by another version of the player")
    return about


def _bad(reason: str) -> UsageError:
    return UsageError("bad_backup", f"This is not a backup of Personae: {reason}.")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _read_contents(files: Mapping[str, bytes], backup: Backup) -> Steps[None]:
    for name, content in files.items():
        if not name.startswith("files/"):
            continue
        digest = yield from content_hash(content)
        backup.contents[digest] = content
        if name != f"files/{digest}":
            backup.unreadable.append(f"{name}: it holds something else than its name says")


def _read_table(name: str, data: bytes, backup: Backup, now: int) -> Steps[None]:
    table = name.removesuffix(".jsonl").partition("/")[0]
    if not name.endswith(".jsonl"):
        return

    def take(key: Key, value: str) -> Steps[None]:
        try:
            yield from _take(table, Record(key, value), backup, now)
        except (StorageError, ArithmeticError, ValueError) as error:
            raise BadLine("a line holds another kind of record") from error

    bad = yield from read_lines(data, take)
    if bad:
        backup.unreadable.append(f"{name}: {bad} of its records")


def _take(table: str, record: Record, backup: Backup, now: int) -> Steps[None]:
    """Adds a record to what is restored. Raises ValueError or StorageError."""
    if table == "packages":
        backup.characters.append((yield from _character(record, backup.contents)))
    elif table == "settings":
        if record.key == ("app",):
            backup.settings = _mapping((yield from _json(record.value)))
    elif table == "conversations":
        value = yield from _json(record.value)
        check_depth(value)
        head = _head(record.key, value, now)
        backup.conversations[head.id] = Conversation(head)
    elif table in _TABLES:
        conversation = backup.conversations.get(str(record.key[0]))
        if conversation is None:
            raise BadLine("its conversation is not there")
        name, key = from_schema_1(_TABLES[table], record.key)
        yield from _check(name, Record(key, record.value))
        conversation.records.append(Put(name, key, record.value))


def _json(text: str | bytes) -> Steps[Any]:
    """The value of a text, in steps when it is long. Raises ValueError."""
    if len(text) <= _SHORT:
        return load_json(text, most=MAX_STORE_DEPTH)
    return (yield from read_json(str(text)))


def _character(record: Record, contents: Mapping[str, bytes]) -> Steps[Character]:
    found = whole((yield from _json(record.value)), record.key)
    if found is None:
        raise BadLine("a character's record is damaged")
    files = {}
    for item in found["files"]:
        path = _clean(item["path"])
        if item["hash"] not in contents:
            raise BadLine("a file of the character is missing")
        files[path] = contents[item["hash"]]
    digest = yield from contents_digest(files)
    hashes = {item["path"]: item["hash"] for item in found["files"]}
    made = {
        "id": found["id"],
        "name": plain_line(str(found["name"]), LONGEST_NAME),
        "description": plain(str(found["description"])),
        **_author(found),
        "source": found["source"] if isinstance(found["source"], str) else None,
        "size": sum(map(len, files.values())),
        "digest": digest,
        "openedAt": found["openedAt"],
        "files": [{"path": path, "hash": hashed} for path, hashed in hashes.items()],
    }
    if not may_be(made):
        raise BadLine("the character is not the one it says")
    return Character(made, {hashed: contents[hashed] for hashed in hashes.values()})


def _author(found: Mapping[str, Any]) -> dict[str, str]:
    """Earlier versions stored none."""
    return {"author": plain_line(str(found["author"]), LONGEST_NAME)} if "author" in found else {}


def _clean(path: str) -> str:
    try:
        clean = clean_path(path)
    except UnsafeName as error:
        raise BadLine("a path leaves the package") from error
    if clean != path:
        raise BadLine("a path is not as it was stored")
    return path


def _head(key: Key, value: Any, now: int) -> Head:
    """The head, with nothing that could move money: what was spent is never less than nothing."""
    head = head_from_json(value)
    if key != (head.character_id, head.id):
        raise BadLine("a conversation is stored under another name")
    head.tokens_spent = max(0, head.tokens_spent)
    head.updated_at = min(head.updated_at, now)
    return head


def _check(table: Table, record: Record) -> Steps[None]:
    """Raises ValueError or StorageError for what is no record of that table.

    What is in a store is its agent's business and is not looked at.
    """
    if table == "stores":
        if len(record.key) != 2:
            raise BadLine("a store is stored under another name")
        store_from_record(Record(record.key, str(record.value)[:_FIRST_LINE]))
        return
    value = yield from _json(record.value)
    check_depth(value)
    if table == "entries" and record.key[1:] != (entry_from_json(value).id,):
        raise BadLine("an entry is stored under another name")
    if table == "logs" and not (len(record.key) == 3 and type(record.key[2]) is int):
        raise BadLine("a line of a log is stored under another name")
