"""The user's settings: a value, its stored form, and what the player is given. Pure.

Keys are kept apart from the rest: in memory, or each in a record of its own under the origin it
belongs to, when the user wants it on this device. They are in no export and no backup.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from personae.credentials import Credentials, origin_of, without_secrets
from personae.package.declarations import Declared
from personae.settings import REHEARSAL, Limits
from personae.storage.saver import Saver
from personae.storage.settings_records import Readable, read_settings, write_settings

RESTORABLE = ("temperature", "top_p")
"""What a backup may bring back: nothing that moves a key, money or access."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was entered for one provider."""

    base_url: str = ""
    model: str = ""
    worker_model: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    base_url: str = ""
    model: str = ""
    worker_model: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    cap_response: int = Limits().response
    cap_conversation: int = Limits().conversation
    keys: Credentials = field(default_factory=Credentials)
    kept: frozenset[str] = frozenset()
    """Origins whose key stays on this device."""
    providers: Mapping[str, Choice] = field(default_factory=dict)
    """Preset id -> what was entered there before another provider was chosen."""
    web_access: Mapping[str, Declared] = field(default_factory=dict)
    """Character id -> what its agents declared when the user let them read web pages."""

    @property
    def rehearsing(self) -> bool:
        """Whether the rehearsal model answers: chosen, or nothing else is."""
        return (self.model or self._unset) == REHEARSAL

    @property
    def lacks_model(self) -> bool:
        """Whether there is a provider and none of its models is chosen."""
        return bool(self.base_url) and not self.model

    @property
    def _unset(self) -> str:
        """The model of one who has chosen none: a provider's is never the rehearsal model."""
        return "" if self.base_url else REHEARSAL

    @property
    def api_key(self) -> str:
        """The key of the base URL's origin."""
        return self.keys.key_for(self.base_url)

    @property
    def keeps_key(self) -> bool:
        return origin_of(self.base_url) in self.kept

    def with_key(self, key: str) -> Settings:
        """With ``key`` for the origin of the base URL."""
        return replace(self, keys=self.keys.entered(key, self.base_url))

    def keeping(self, on_device: bool) -> Settings:
        """With the key of the base URL's origin on this device, or for this session only."""
        origin = {origin_of(self.base_url)}
        return replace(self, kept=self.kept | origin if on_device else self.kept - origin)

    def allows_web(self, character_id: str, now: Declared) -> bool:
        """Whether agents that declare ``now`` may read web pages: these, and not others under the
        same link."""
        return self.web_access.get(character_id) == now

    def player_options(self, character_id: str = "", now: Declared | None = None) -> dict[str, Any]:
        """Keyword arguments for ``CharacterPlayer`` and ``configure``; ``now``: what the
        character's agents declare."""
        return {
            "credentials": self.keys,
            "base_url": self.base_url,
            "model": self.model or self._unset,
            "worker_model": self.worker_model,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "limits": {"response": self.cap_response, "conversation": self.cap_conversation},
            "web_access": now is not None and self.allows_web(character_id, now),
        }

    def label(self) -> str:
        """What the header says about who answers."""
        return "Rehearsal, no AI" if self.rehearsing else self.model or "No model chosen"


_NUMBERS: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 2),
    "top_p": (float, 0, 1),
    "max_tokens": (int, 1, 10_000_000),
    "cap_response": (int, 0, 10**12),
    "cap_conversation": (int, 0, 10**12),
}
_REQUIRED = ("cap_response", "cap_conversation")
_APART = ("keys", "kept", "providers")
"""Fields that are not in the app's record as they are."""
_BY_NAME = (*_APART, "web_access")
"""Fields whose parts are entered one by one."""


def with_field(settings: Settings, name: str, text: str) -> Settings:
    """``settings`` with one form field changed. Raises ValueError with a sentence for the form."""
    if name not in _NUMBERS:
        return _changed(settings, name, text.strip())
    kind, low, high = _NUMBERS[name]
    if not text.strip():
        return _changed(settings, name, getattr(Settings(), name) if name in _REQUIRED else None)
    try:
        value = float(text)
    except ValueError:
        raise ValueError("This is not a number.") from None
    if not low <= value <= high:
        raise ValueError(f"It has to be from {low:,g} to {high:,.0f}.")
    if value != kind(value):
        raise ValueError("It has to be a whole number.")
    return _changed(settings, name, kind(value))


def _changed(settings: Settings, name: str, value: Any) -> Settings:
    changes: dict[str, Any] = {name: value}
    return replace(settings, **changes)


def from_record(text: str) -> Settings:
    """Settings from their stored form; unknown or misshapen fields are left at their default."""
    try:
        stored = json.loads(text)
    except ValueError:
        return Settings()
    if not isinstance(stored, dict):
        return Settings()
    defaults = Settings()
    known: dict[str, Any] = {
        item.name: stored[item.name]
        for item in fields(Settings)
        if item.name in stored
        and item.name not in _APART
        and _fits(stored[item.name], getattr(defaults, item.name))
    }
    known["base_url"] = without_secrets(known.get("base_url", ""))
    known["web_access"] = _grants(known.get("web_access", {}))
    return Settings(**known, providers=_choices(stored.get("providers")))


def _grants(stored: Mapping[str, Any]) -> dict[str, Declared]:
    """Of a grant by an earlier version it is not known to what it was given: to nothing."""
    return {
        identity: granted if _is_declared(granted) else {}
        for identity, granted in stored.items()
        if granted is not False
    }


def _is_declared(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(lines, list) and all(isinstance(line, str) for line in lines)
        for lines in value.values()
    )


def _choices(stored: Any) -> dict[str, Choice]:
    if not isinstance(stored, dict):
        return {}
    names = [item.name for item in fields(Choice)]
    return {
        preset: Choice(**{name: str(found.get(name, "")) for name in names})
        for preset, found in stored.items()
        if isinstance(found, dict)
    }


def _fits(value: Any, default: Any) -> bool:
    if default is None:
        return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
    if isinstance(default, bool) or isinstance(value, bool):
        return type(value) is type(default)
    return isinstance(value, type(default))


async def load(storage: Readable) -> Settings:
    """The stored settings, or the defaults. Raises StorageError."""
    found = await read_settings(storage)
    settings = from_record(found.app)
    named = {origin_of(settings.base_url): found.old_key, **found.keys}
    keys = {origin: key for origin, key in named.items() if origin and key}
    return replace(settings, keys=Credentials(keys), kept=frozenset(keys))


def merged(stored: Settings, before: Settings, now: Settings) -> Settings:
    """The stored settings with what was changed here, from ``before`` to ``now``.

    What was not changed stays as it is stored, though another tab wrote it: a key that was
    forgotten there, a cap, web access do not come back by this.
    """
    changed = {
        item.name
        for item in fields(Settings)
        if item.name not in _BY_NAME and getattr(now, item.name) != getattr(before, item.name)
    }
    if "base_url" in changed:
        changed |= {"model", "worker_model"}  # their names mean something there
    changes: dict[str, Any] = {name: getattr(now, name) for name in changed}
    for name in ("providers", "web_access"):
        its = [getattr(one, name) for one in (stored, before, now)]
        changes[name] = _with(its[0], its[2], _changed_names(its[1], its[2]))
    keys = now.keys.by_origin
    moved = _changed_names(before.keys.by_origin, keys) | (before.kept ^ now.kept)
    changes["keys"] = Credentials(_with(stored.keys.by_origin, keys, moved))
    changes["kept"] = (stored.kept - moved) | (now.kept & moved)
    return replace(stored, **changes)


def _changed_names(before: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    return {name for name in {*before, *now} if before.get(name) != now.get(name)}


def _with(stored: Mapping[str, Any], now: Mapping[str, Any], names: Collection[str]) -> Any:
    """``stored`` with what ``now`` has, or has no more, under ``names``."""
    rest = {name: value for name, value in stored.items() if name not in names}
    return rest | {name: now[name] for name in names if name in now}


async def save(saver: Saver, settings: Settings) -> None:
    """Stores the settings, or keeps them for later; a key only when the user wants it kept.

    Keys of origins that these settings do not know stay as they are: another tab entered them.
    """
    record = {
        item.name: getattr(settings, item.name)
        for item in fields(settings)
        if item.name not in _APART
    }
    record["providers"] = {name: asdict(choice) for name, choice in settings.providers.items()}
    keys = {
        origin: key if key and origin in settings.kept else None
        for origin, key in settings.keys.by_origin.items()
        if origin
    }
    await write_settings(saver, json.dumps(record), keys)


# What a backup may hold and change


def restorable(settings: Settings) -> dict[str, Any]:
    """What a backup holds of the settings."""
    return {
        name: getattr(settings, name)
        for name in RESTORABLE
        if getattr(settings, name) != getattr(Settings(), name)
    }


def restored(settings: Settings, found: Mapping[str, Any]) -> Settings:
    """``settings`` with what a backup may change; what makes no sense is left as it is."""
    for name in RESTORABLE:
        value = found.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            with suppress(ValueError):
                settings = with_field(settings, name, str(value))
    return settings


def with_web(settings: Settings, character_id: str, now: Declared) -> Settings:
    """``settings`` in which these agents of a character may read web pages."""
    return replace(settings, web_access={**settings.web_access, character_id: now})


def without_access(settings: Settings, character_ids: Collection[str]) -> Settings:
    """``settings`` in which these characters have to ask for web access again."""
    left = {name: on for name, on in settings.web_access.items() if name not in character_ids}
    return replace(settings, web_access=left)
