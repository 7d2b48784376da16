"""What is said about a backup before it changes anything. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from personae.storage.transfer.backup_file import Backup
from personae.ui.settings.app_settings import RESTORABLE, Settings, restored
from personae.unicode import plain_line

_LABELS = {"temperature": "temperature", "top_p": "top-p"}
_NOT_TAKEN = {
    "base_url": "provider",
    "model": "models",
    "worker_model": "models",
    "max_tokens": "longest reply",
    "cap_response": "caps",
    "cap_conversation": "caps",
    "web_access": "web access",
}
_LONGEST = 100
"""Characters of a name, which is a text of whoever made the backup."""
_NAMED = 3
"""Faults that are spelled out."""


def question(backup: Backup, own: Settings) -> str:
    """What restoring will do, as sentences."""
    sentences = (
        f"It holds {_count(len(backup.characters), 'character')} and "
        f"{_count(len(backup.conversations), 'conversation')}, which are added to what is here. "
        "Characters that are here already and conversations that are newer here stay as they are; "
        "a conversation that went on differently here stays, and the other one comes beside it.",
        _changes(backup, own),
        _not_taken(backup),
        _unreadable(backup.unreadable),
        "The page starts again afterwards.",
    )
    return " ".join(filter(None, sentences))


def left_out(names: list[str]) -> str:
    """What a backup could not hold; empty when it holds everything."""
    if not names:
        return ""
    return f"Too large for a backup, and left out: {_listed(names)}."


def _changes(backup: Backup, own: Settings) -> str:
    now = restored(own, backup.settings)
    changes = [
        f"{_LABELS[name]} to {getattr(now, name):g}"
        for name in RESTORABLE
        if getattr(now, name) != getattr(own, name)
    ]
    return f"Of your settings it changes {' and '.join(changes)}." if changes else ""


def _not_taken(backup: Backup) -> str:
    plain = Settings()
    found = dict.fromkeys(
        words
        for name, words in _NOT_TAKEN.items()
        if backup.settings.get(name) and backup.settings[name] != getattr(plain, name)
    )
    if not found:
        return ""
    *others, last = found
    names = f"{', '.join(others)} and {last}" if others else last
    return f"Its settings for {names} are not taken over: yours stay."


def _unreadable(names: list[str]) -> str:
    return f"Cannot be read, and is left out: {_listed(names)}." if names else ""


def _listed(names: Iterable[str]) -> str:
    names = [plain_line(name, _LONGEST) for name in names]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return "; ".join(names[:_NAMED]) + more


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
