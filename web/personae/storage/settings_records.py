"""The app's settings and the API keys that stay on this device, as records.

The settings are JSON text that is not looked into here; each key has a record of its own under the
origin it belongs to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from personae.ports import Delete, Key, Put, Query, Record
from personae.storage.saver import Saver

APP_RECORD: Key = ("app",)
KEY_RECORDS = "origin_key"
"""The first part of the keys under which API keys are stored; the second is the origin."""
OLD_KEY_RECORD: Key = ("api_key",)
"""Where version 0.1.0 stored the one key it knew; it belongs to the base URL of that time."""


class Readable(Protocol):
    """The storage, or a Saver: with what is not stored yet."""

    async def read(self, query: Query) -> list[Record]: ...


@dataclass(slots=True)
class StoredSettings:
    app: str = "{}"
    keys: dict[str, str] = field(default_factory=dict)
    """Origin -> API key."""
    old_key: str = ""
    """The one key of version 0.1.0."""


async def read_settings(storage: Readable) -> StoredSettings:
    """What is stored; a damaged key is none. Raises StorageError."""
    found = StoredSettings()
    for record in await storage.read(Query("settings")):
        if record.key == APP_RECORD:
            found.app = str(record.value)
        elif record.key == OLD_KEY_RECORD:
            found.old_key = _key_in(record.value)
        elif record.key[0] == KEY_RECORDS and len(record.key) == 2:
            found.keys[str(record.key[1])] = _key_in(record.value)
    return found


async def write_settings(saver: Saver, app: str, keys: Mapping[str, str | None]) -> None:
    """Stores the settings, or keeps them for later.

    ``keys``: by origin, None for one that does not stay here; others are left as they are.
    """
    writes = [
        Delete("settings", (KEY_RECORDS, origin))
        if key is None
        else Put("settings", (KEY_RECORDS, origin), json.dumps(key))
        for origin, key in keys.items()
    ]
    await saver.write(
        [Put("settings", APP_RECORD, app), Delete("settings", OLD_KEY_RECORD), *writes]
    )


def _key_in(text: str | bytes) -> str:
    try:
        key = json.loads(text)
    except ValueError:
        return ""
    return key if isinstance(key, str) else ""
