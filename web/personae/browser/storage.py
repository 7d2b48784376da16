"""IndexedDB as ports.Storage (reference: Persistent storage).

Invariants: a commit returns when its transaction is complete; an error of the browser becomes a
StorageError whose code says what the user can do about it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import personae_host
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js

from personae.browser.convert import bytes_from_js, error_message, error_name
from personae.errors import StorageError
from personae.ports import Delete, Key, Put, Query, Record, Table

# Name of the browser's error -> our code and what to do.
_REASONS = {
    "QuotaExceededError": (
        "storage_full",
        "The browser's storage is full: delete conversations or characters, or export and free "
        "space on the device.",
    ),
    "TimeoutError": (
        "storage_stalled",
        "Another tab or program may keep it busy: close other tabs of the player, and keep this "
        "one open.",
    ),
    "BlockedError": (
        "storage_blocked",
        "Another tab runs an older version of the player: close it, then reload this one.",
    ),
    "VersionError": (
        "storage_newer",
        "The stored data was written by a newer version of the player: reload to update. Nothing "
        "was changed.",
    ),
    "SecurityError": (
        "storage_refused",
        "The browser refuses storage (private mode or a setting): this session is kept in memory "
        "only.",
    ),
}
_REFUSED = frozenset({"InvalidAccessError", "NotAllowedError"})


class IndexedDBStorage:
    """ports.Storage. ``told`` hears when another tab's newer version took the database over."""

    def __init__(self, told: Callable[[str], None]) -> None:
        self._told = create_proxy(told)
        self._storage = personae_host.openStorage(self._told)

    async def read(self, query: Query) -> list[Record]:
        before = json.dumps(query.before) if query.before is not None else None
        found = await _translated(
            self._storage.read(query.table, json.dumps(query.prefix), query.limit, before)
        )
        keys = json.loads(found.keys)
        values = found.values.to_py(depth=1)
        return [
            Record(tuple(key), _value_from_js(value))
            for key, value in zip(keys, values, strict=True)
        ]

    async def keys(self, table: Table) -> list[Key]:
        return [tuple(key) for key in json.loads(await _translated(self._storage.keys(table)))]

    async def commit(self, writes: Sequence[Put | Delete]) -> None:
        if writes:
            await _translated(self._storage.commit(to_js([_write_to_js(w) for w in writes])))

    async def close(self) -> None:
        await self._storage.close()
        self._told.destroy()


def _write_to_js(write: Put | Delete) -> list[Any]:
    key = json.dumps(write.key)
    if isinstance(write, Put):
        return ["put", write.table, key, write.value]
    return ["deletePrefix" if write.prefix else "delete", write.table, key]


def _value_from_js(value: Any) -> str | bytes:
    """Text, bytes, or "" for what no version of the player has written: a damaged record."""
    if isinstance(value, str | bytes):
        return value
    if isinstance(value, JsProxy) and value.constructor.name == "Uint8Array":
        return bytes_from_js(value)
    return bytes(value) if isinstance(value, memoryview) else ""


async def _translated(promise: Awaitable[Any]) -> Any:
    try:
        return await promise
    except JsException as error:
        raise storage_error(error_name(error), error_message(error)) from error


def storage_error(name: str, message: str) -> StorageError:
    """The StorageError for a DOMException name."""
    if name in _REFUSED:
        name = "SecurityError"
    code, remedy = _REASONS.get(
        name,
        ("storage_failed", "Export the conversation to be safe, then reload the page."),
    )
    reason = ": ".join(filter(None, (name, message)))
    return StorageError(code, f"Storage failed ({reason}). {remedy}", name=name)
