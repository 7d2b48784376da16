"""Keys that are pressed anywhere in the page, and the shortcuts they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js

from personae.ui.dom.elements import document, missing
from personae.ui.dom.listeners import Listeners
from personae.ui.keyboard.shortcuts import SHORTCUTS, Shortcut


def is_mac() -> bool:
    return "mac" in str(js.navigator.platform).lower()


class Keyboard:
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
