"""Keyboard shortcuts: one table, which acts and which the help sheet shows. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shortcut:
    """``key`` as in ``KeyboardEvent.key``; ``mod`` is Ctrl, or Cmd on a Mac."""

    name: str
    key: str
    text: str
    mod: bool = False
    shift: bool = False
    alt: bool = False
    message: bool = False
    """Acts on the focused message, where plain letters mean nothing else."""

    def matches(self, event: Any, mac: bool) -> bool:
        mod = bool(event.metaKey if mac else event.ctrlKey)
        # Where a sign needs Shift on one keyboard, it does not on another.
        shift = self.shift == bool(event.shiftKey) or not self.key.isalpha()
        held = mod == self.mod and bool(event.altKey) == self.alt and shift
        return held and str(event.key).lower() == self.key.lower()

    def keys(self, mac: bool) -> list[str]:
        """What to press, for the help sheet."""
        names = {"ArrowUp": "↑", "ArrowDown": "↓", "Escape": "Esc", "Delete": "Del"}
        held = [("⌘" if mac else "Ctrl", self.mod), ("Alt", self.alt), ("Shift", self.shift)]
        return [name for name, on in held if on] + [names.get(self.key, self.key.upper())]


SHORTCUTS = (
    Shortcut("stop", "Escape", "Stop the reply"),
    Shortcut("commands", "k", "Commands of the character", mod=True),
    Shortcut("new", "o", "New conversation", mod=True, shift=True),
    Shortcut("characters", "l", "Characters", mod=True, shift=True),
    Shortcut("panel", "e", "Agents and prompt", mod=True, shift=True),
    Shortcut("settings", ",", "Settings", mod=True),
    Shortcut("help", "/", "This help", mod=True),
    Shortcut("composer", "/", "Write a message"),
    Shortcut("recall", "ArrowUp", "Edit your last message (in an empty box)"),
    Shortcut("previous", "ArrowUp", "Message before", alt=True),
    Shortcut("next", "ArrowDown", "Message after", alt=True),
    Shortcut("copy", "c", "Copy the message", message=True),
    Shortcut("edit", "e", "Edit the message", message=True),
    Shortcut("regenerate", "r", "Regenerate the last reply", message=True),
    Shortcut("delete", "Delete", "Delete the message", message=True),
)
