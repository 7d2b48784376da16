"""The keys of all tables (ports.Table), and the stored form of a conversation.

    conversations  (character, conversation)        entries  (conversation, entry)
    stores         (conversation, owner)            logs     (conversation, owner, number)
    world          (conversation, scope, kind, owner, name, key)
    commits        (conversation, number)           artifacts (conversation, id)
    packages       (character)                      files    (content hash)
    settings       (name), or (kind, name) for keys and provider facts

The owner of a store or a log is an agent as ``scopes.scoped`` names it. Nothing is written to
world, commits and artifacts yet. Packages and files are ``library.py``'s, settings are
``settings_records.py``'s and ``provider_facts.py``'s.

Invariants: a head and each entry are JSON objects; a store record is one line with the store's
version and then the store's own JSON text, which is never parsed here.
"""

from __future__ import annotations

from typing import Any

from personae.bounded_json import MAX_STORE_DEPTH, load_json
from personae.conversation.entries import Entry
from personae.conversation.entry_json import entry_to_json
from personae.errors import BridgeError, StorageError
from personae.ports import Key, Put, Record, Table
from personae.sandbox.process import StoreText
from personae.storage.head import Head, head_from_json, head_to_json
from personae.written import dumps

CONVERSATION_TABLES: tuple[Table, ...] = (
    "entries",
    "stores",
    "logs",
    "world",
    "commits",
    "artifacts",
)
"""The tables whose keys begin with a conversation's id."""


def head_from_record(record: Record) -> Head:
    return head_from_json(loads(record.value))


def put_head(head: Head) -> Put:
    return Put("conversations", head_key(head), dumps(head_to_json(head)))


def put_entry(conversation_id: str, entry: Entry) -> Put:
    return Put("entries", (conversation_id, entry.id), dumps(entry_to_json(entry)))


def put_store(conversation_id: str, owner: str, store: StoreText) -> Put:
    """``owner``: an agent as ``scopes.scoped`` names it."""
    value = f'{{"version":{store.version}}}\n{store.text}'
    return Put("stores", (conversation_id, owner), value)


def log_key(conversation_id: str, owner: str, number: int) -> Key:
    """The key of one record of an agent's activity log; ``owner`` as for ``put_store``."""
    return (conversation_id, owner, number)


def draft_key(conversation_id: str) -> Key:
    """The key, among the settings, of what was typed for a conversation and not sent."""
    return ("draft", conversation_id)


def from_schema_1(table: Table, key: Key) -> tuple[Table, Key]:
    """Where a record of schema 1 is kept now: it had the agents' logs among the stores."""
    if table == "stores" and len(key) == 4 and key[2] == "log":
        return "logs", (*key[:2], key[3])
    return table, key


def store_from_record(record: Record) -> StoreText:
    """Raises StorageError ``store_unreadable``."""
    line, _, text = str(record.value).partition("\n")
    try:
        version = int(loads(line)["version"])
    except (KeyError, TypeError, ValueError, StorageError) as error:
        raise StorageError(
            "store_unreadable",
            f"The stored data of agent {record.key[-1]!r} cannot be read. It was left as it is.",
        ) from error
    return StoreText(version, text)


def parsed_store(text: str) -> Any:
    """A store as a JSON value. Raises BridgeError ``store_unreadable``."""
    try:
        return load_json(text, most=MAX_STORE_DEPTH)
    except ValueError as error:
        raise BridgeError("store_unreadable", "The agent's stored data is damaged.") from error


def head_key(head: Head) -> Key:
    return (head.character_id, head.id)


def loads(value: str | bytes) -> Any:
    """The JSON value, or StorageError ``record_unreadable``."""
    try:
        return load_json(value, most=MAX_STORE_DEPTH)
    except ValueError as error:
        raise StorageError(
            "record_unreadable", "A stored record is damaged. It was left as it is."
        ) from error
