"""Conversations and agent data as files (reference: Default agent state).

A conversation's export is one JSON object: ``{format, version, character, conversation, entries,
stores}``. It holds no settings and no key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from personae.bounded_json import TooDeepError, check_depth
from personae.conversation.entries import Entry
from personae.conversation.entry_json import entry_from_json, entry_to_json
from personae.errors import BridgeError, PersonaeError, UsageError
from personae.package.steps import Steps
from personae.sandbox.process import StoreText
from personae.storage.head import head_from_json, head_to_json
from personae.storage.journal import Journal
from personae.storage.records import parsed_store
from personae.storage.snapshot import Snapshot
from personae.written import dumps

FORMAT = "personae-conversation"
VERSION = 1


def export_conversation(journal: Journal, character: str) -> dict[str, Any]:
    """The whole conversation as JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "character": character,
        "conversation": head_to_json(journal.head),
        "entries": [entry_to_json(entry) for entry in journal.entries_as_stored()],
        "stores": dict(_readable_stores(journal)),
    }


def import_conversation(data: Any) -> Steps[Snapshot]:
    """What an export holds. Raises UsageError ``bad_import`` or ``newer_import``."""
    if not isinstance(data, Mapping) or data.get("format") != FORMAT:
        raise UsageError("bad_import", "This is not a conversation exported by this player.")
    if data.get("version") != VERSION:
        raise UsageError(
            "newer_import", "This export was made by another version of the player: update first."
        )
    try:
        check_depth(data.get("conversation"))
        head = head_from_json(data.get("conversation"))
        head.tokens_spent = max(0, head.tokens_spent)
        entries = yield from _entries(data.get("entries", ()))
        stores = {}
        for agent, value in data.get("stores", {}).items():
            stores[str(agent)] = _store(value)
            yield "reading", len(stores), len(data["stores"])
    except (PersonaeError, TypeError, AttributeError, ArithmeticError, TooDeepError) as error:
        raise UsageError("bad_import", f"The exported conversation is damaged: {error}") from error
    if len({entry.id for entry in entries}) != len(entries):
        raise UsageError("bad_import", "The exported conversation repeats an entry.")
    return Snapshot(head, sorted(entries, key=lambda entry: entry.id), stores)


def _entries(found: Any) -> Steps[list[Entry]]:
    entries = []
    for entry in found:
        check_depth(entry)
        entries.append(entry_from_json(entry))
        yield "reading", len(entries), len(found)
    return entries


def default_data(journal: Journal) -> dict[str, str]:
    """``{"<agentId>.agent.json": text}``: the stores as a package's default agent state."""
    return {
        f"{agent}.agent.json": dumps(without_numbers(store))
        for agent, store in _readable_stores(journal)
    }


def without_numbers(value: Any) -> Any:
    """A copy with every ``toolCallId`` field left out, at any depth."""
    if isinstance(value, dict):
        return {k: without_numbers(v) for k, v in value.items() if k != "toolCallId"}
    if isinstance(value, list):
        return [without_numbers(item) for item in value]
    return value


def _readable_stores(journal: Journal) -> Iterator[tuple[str, Any]]:
    """A damaged store does not keep the rest from being exported."""
    for agent_id, store in journal.stores.items():
        with suppress(BridgeError):
            yield agent_id, parsed_store(store.text)


def _store(value: Any) -> StoreText:
    if not isinstance(value, dict):
        raise TypeError("a store is an object")
    return StoreText(1, dumps(value))
