"""Keyboard shortcuts: one table that acts and that the help sheet shows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import js

from personae.ui.dom import Listeners, document, missing


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
        names = {"ArrowUp": "↑", "ArrowDown": "↓", "Escape": "Esc", ",": ","}
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
    Shortcut("previous", "ArrowUp", "Message before", alt=True),
    Shortcut("next", "ArrowDown", "Message after", alt=True),
    Shortcut("copy", "c", "Copy the message", message=True),
    Shortcut("edit", "e", "Edit the message", message=True),
    Shortcut("regenerate", "r", "Regenerate the last reply", message=True),
    Shortcut("delete", "Delete", "Delete the message", message=True),
)


def is_mac() -> bool:
    return "mac" in str(js.navigator.platform).lower()


class Shortcuts:
    def __init__(self, act: Callable[[str, Any], bool], mac: bool) -> None:
        """``act`` gets a shortcut's name and the focused message (or None); True: it acted."""
        self._act, self._mac = act, mac
        self._listeners = Listeners()
        self._listeners.on(document, "keydown", self._key)

    def _key(self, event: Any) -> None:
        if event.defaultPrevented or event.isComposing:
            return
        target = event.target
        typing = bool(target.matches("input, textarea, select, [contenteditable]"))
        message = target if target.matches("[data-testid=message], .intro, .audit") else None
        for shortcut in SHORTCUTS:
            plain = not (shortcut.mod or shortcut.alt or shortcut.key == "Escape")
            if (plain and typing) or (shortcut.message and message is None):
                continue
            if shortcut.matches(event, self._mac) and not self._in_dialog(shortcut):
                if self._act(shortcut.name, message):
                    event.preventDefault()
                return

    def _in_dialog(self, shortcut: Shortcut) -> bool:
        """Dialogs keep the keyboard to themselves."""
        return not missing(document.querySelector("dialog[open], .menu:popover-open"))
