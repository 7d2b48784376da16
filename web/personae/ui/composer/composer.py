"""The message box: sending and stopping, and nothing sent by accident."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js

from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, grow, show
from personae.ui.dom.listeners import Listeners

HINT = "Enter sends · Shift+Enter for a new line · @ for commands"


class Composer:
    def __init__(
        self,
        dispatcher: Dispatcher,
        send: Callable[[str], Any],
        commands: Callable[[], Any],
        recall: Callable[[], bool],
    ) -> None:
        """``recall``: edits the newest own message (Up in an empty box); False: there is none."""
        self._box, self._send, self._stop = by_id("composer"), by_id("send"), by_id("stop")
        self._on_send, self._on_commands, self._on_recall = send, commands, recall
        self._enabled = self._busy = self._composing = False
        self._waits_for_focus = False
        """It had the focus when it was disabled, and gets it back."""
        form = by_id("composer-form")
        self._listeners = Listeners()
        self._listeners.on(form, "submit", self._submitted)
        self._listeners.on(self._box, "keydown", self._key)
        self._listeners.on(self._box, "compositionstart", lambda _: self._set_composing(True))
        self._listeners.on(self._box, "compositionend", lambda _: self._set_composing(False))
        dispatcher.on("input", "composer", lambda *_: self._typed())
        by_id("hint").textContent = HINT

    @property
    def text(self) -> str:
        return str(self._box.value)

    @text.setter
    def text(self, value: str) -> None:
        self._box.value = value
        self._refresh()

    def set_state(self, *, enabled: bool, busy: bool) -> None:
        """``enabled``: typing is possible. ``busy``: a turn runs; stop takes the place of send."""
        if (enabled, busy) == (self._enabled, self._busy):
            return
        had_focus = by_id("composer-form").matches(":focus-within") or self._waits_for_focus
        self._waits_for_focus = had_focus and not enabled
        self._enabled, self._busy = enabled, busy
        self._box.disabled = not enabled
        show(self._stop, busy)
        show(self._send, not busy)
        self._refresh()
        if had_focus and enabled:
            self.focus()

    def set_placeholder(self, text: str) -> None:
        self._box.placeholder = text

    def focus(self) -> None:
        self._box.focus(preventScroll=True)

    def _refresh(self) -> None:
        self._send.disabled = not self._enabled or self._busy or not self.text.strip()
        grow(self._box)

    def _typed(self) -> None:
        self._refresh()
        if self.text == "@":
            self.text = ""
            self._on_commands()

    def _set_composing(self, on: bool) -> None:
        self._composing = on

    def _key(self, event: Any) -> None:
        # 229 is what browsers report for keys an input method has taken.
        composing = self._composing or event.isComposing or event.keyCode == 229
        plain = not (event.shiftKey or event.altKey or event.ctrlKey or event.metaKey or composing)
        if event.key == "ArrowUp" and plain and not self.text and self._on_recall():
            event.preventDefault()
        if event.key != "Enter" or event.shiftKey or event.altKey or composing:
            return
        if _coarse_pointer() and not (event.ctrlKey or event.metaKey):
            return  # on a touch keyboard Enter makes a new line; the button sends
        event.preventDefault()
        self._try_send()

    def _submitted(self, event: Any) -> None:
        event.preventDefault()
        self._try_send()

    def _try_send(self) -> None:
        text = self.text.strip()
        if text and self._enabled and not self._busy:
            self.text = ""
            self._on_send(text)


def _coarse_pointer() -> bool:
    return bool(js.matchMedia("(hover: none) and (pointer: coarse)").matches)
