"""The stored form of a conversation: keys and values of the tables (ports.Table).

Invariants: a head and each entry are JSON objects; a store record is one line with the store's
version and then the store's own JSON text, which is never parsed here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from personae.bounded_json import MAX_STORE_DEPTH, load_json
from personae.conversation.entries import Entry
from personae.conversation.entry_json import entry_to_json
from personae.errors import BridgeError, StorageError
from personae.ports import Key, Put, Record
from personae.sandbox.process import StoreText


@dataclass(slots=True)
class PendingEdit:
    """An edit that is saved while some agents have not heard of it yet (afterUserEdit)."""

    deleted_numbers: list[int]
    last_viable: int
    agents: list[str]
    """Ids of the agents still to be told."""


@dataclass(slots=True)
class Head:
    """A conversation's own record. Times are milliseconds since the epoch."""

    id: str
    character_id: str
    created_at: int
    updated_at: int
    title: str = ""
    named: bool = False
    """Whether the user chose the title."""
    next_entry: int = 1
    last_number: int = 0
    """The last toolCallId handed out; never goes back."""
    tokens_spent: int = 0
    edit: PendingEdit | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields of a newer version, kept as they are."""


def head_to_json(head: Head) -> dict[str, Any]:
    data: dict[str, Any] = {
        **head.extra,
        "id": head.id,
        "characterId": head.character_id,
        "title": head.title,
        "named": head.named,
        "createdAt": head.created_at,
        "updatedAt": head.updated_at,
        "nextEntry": head.next_entry,
        "lastToolCallId": head.last_number,
        "tokensSpent": head.tokens_spent,
    }
    if head.edit is not None:
        data["edit"] = {
            "deletedToolCallIds": head.edit.deleted_numbers,
            "lastViableToolCallId": head.edit.last_viable,
            "agents": head.edit.agents,
        }
    return data


def head_from_json(data: Any) -> Head:
    """The head, or StorageError ``conversation_unreadable``."""
    try:
        known = dict(data)
        edit = known.pop("edit", None)
        return Head(
            id=str(known.pop("id")),
            character_id=str(known.pop("characterId")),
            created_at=int(known.pop("createdAt")),
            updated_at=int(known.pop("updatedAt")),
            title=str(known.pop("title", "")),
            named=bool(known.pop("named", False)),
            next_entry=int(known.pop("nextEntry", 1)),
            last_number=int(known.pop("lastToolCallId", 0)),
            tokens_spent=int(known.pop("tokensSpent", 0)),
            edit=None if edit is None else _edit_from_json(edit),
            extra=known,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            "conversation_unreadable",
            f"A conversation's record cannot be read ({error!r}). It was left as it is.",
        ) from error


def head_from_record(record: Record) -> Head:
    return head_from_json(loads(record.value))


def put_head(head: Head) -> Put:
    return Put("conversations", head_key(head), dumps(head_to_json(head)))


def put_entry(conversation_id: str, entry: Entry) -> Put:
    return Put("entries", (conversation_id, entry.id), dumps(entry_to_json(entry)))


def put_store(conversation_id: str, agent_id: str, store: StoreText) -> Put:
    value = f'{{"version":{store.version}}}\n{store.text}'
    return Put("stores", (conversation_id, agent_id), value)


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


def dumps(value: Any) -> str:
    """Compact JSON; every character as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def loads(value: str | bytes) -> Any:
    """The JSON value, or StorageError ``record_unreadable``."""
    try:
        return load_json(value, most=MAX_STORE_DEPTH)
    except ValueError as error:
        raise StorageError(
            "record_unreadable", "A stored record is damaged. It was left as it is."
        ) from error


def _edit_from_json(data: Any) -> PendingEdit:
    return PendingEdit(
        deleted_numbers=[int(number) for number in data["deletedToolCallIds"]],
        last_viable=int(data["lastViableToolCallId"]),
        agents=[str(agent) for agent in data["agents"]],
    )
