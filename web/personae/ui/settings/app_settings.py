"""The user's settings: a value, its stored form, and what the player is given. Pure.

The key is kept apart from the rest: in memory, or in a record of its own when the user wants it
on this device. It is in no export and no backup.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from personae.ports import Delete, Key, Put, Query, Storage
from personae.storage.saver import Saver
from personae.ui.settings.providers import REHEARSAL

KEY_RECORD: Key = ("api_key",)
"""Where the key is stored, when it is; no export holds it."""


@dataclass(frozen=True, slots=True)
class Settings:
    base_url: str = ""
    api_key: str = ""
    model: str = ""
    worker_model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    cap_response: int = 32_000
    cap_conversation: int = 1_000_000
    keep_key: bool = False
    web_access: dict[str, bool] = field(default_factory=dict)
    """Character id -> its agents may read web pages."""

    @property
    def rehearsing(self) -> bool:
        return self.model in ("", REHEARSAL)

    def player_options(self, character_id: str = "") -> dict[str, Any]:
        """Keyword arguments for ``CharacterPlayer`` and ``configure``."""
        return {
            "api_key": self.api_key,
            "base_url": self.base_url,
            "model": self.model or REHEARSAL,
            "worker_model": self.worker_model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "limits": {"response": self.cap_response, "conversation": self.cap_conversation},
            "web_access": self.web_access.get(character_id, False),
        }

    def label(self) -> str:
        """What the header says about who answers."""
        return "Rehearsal, no AI" if self.rehearsing else self.model


_NUMBERS: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "top_p": (float, 0, 1),
    "max_tokens": (int, 1, 10_000_000),
    "cap_response": (int, 0, 10**12),
    "cap_conversation": (int, 0, 10**12),
}
_REQUIRED = {"cap_response": 32_000, "cap_conversation": 1_000_000}


def with_field(settings: Settings, name: str, text: str) -> Settings:
    """``settings`` with one form field changed. Raises ValueError with a sentence for the form."""
    if name not in _NUMBERS:
        return _changed(settings, name, text.strip())
    kind, low, high = _NUMBERS[name]
    if not text.strip():
        return _changed(settings, name, _REQUIRED.get(name))
    try:
        value = kind(float(text))
    except (ValueError, OverflowError):
        raise ValueError("This is not a number.") from None
    if not low <= value <= high:
        raise ValueError(f"From {low:g} to {high:g}.")
    return _changed(settings, name, value)


def _changed(settings: Settings, name: str, value: Any) -> Settings:
    changes: dict[str, Any] = {name: value}
    return replace(settings, **changes)


def from_record(text: str) -> Settings:
    """Settings from their stored form; unknown or misshapen fields are left at their default."""
    try:
        stored = json.loads(text)
    except ValueError:
        return Settings()
    defaults = Settings()
    known = {
        item.name: stored[item.name]
        for item in fields(Settings)
        if isinstance(stored, dict)
        and item.name in stored
        and _fits(stored[item.name], getattr(defaults, item.name))
    }
    return Settings(**known)


def _fits(value: Any, default: Any) -> bool:
    if default is None:
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    return isinstance(value, type(default))


async def load(storage: Storage) -> Settings:
    """The stored settings, or the defaults. Raises StorageError."""
    records = {record.key[0]: str(record.value) for record in await storage.read(Query("settings"))}
    settings = from_record(records.get("app", "{}"))
    return replace(settings, api_key=_key_from_record(records.get(str(KEY_RECORD[0]), '""')))


def merged(stored: Settings, chosen: Settings) -> Settings:
    """The stored settings with what was chosen before they could be read."""
    plain = Settings()
    changes: dict[str, Any] = {
        item.name: getattr(chosen, item.name)
        for item in fields(Settings)
        if getattr(chosen, item.name) != getattr(plain, item.name)
    }
    return replace(stored, **changes)


def _key_from_record(text: str) -> str:
    try:
        key = json.loads(text)
    except ValueError:
        return ""
    return key if isinstance(key, str) else ""


async def save(saver: Saver, settings: Settings) -> None:
    """Stores the settings, or keeps them for later; the key only when the user wants it kept."""
    record = asdict(settings)
    key = record.pop("api_key")
    await saver.write(
        [
            Put("settings", ("app",), json.dumps(record)),
            Put("settings", KEY_RECORD, json.dumps(key))
            if settings.keep_key and key
            else Delete("settings", KEY_RECORD),
        ]
    )
