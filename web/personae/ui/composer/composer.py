"""The message box: sending and stopping, and nothing sent by accident."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import create_once_callable

from personae.storage.drafts import Drafts
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, grow, show
from personae.ui.dom.listeners import Listeners

KEEP_AFTER = 300
"""Milliseconds without typing after which a draft is stored."""
HINT = "Enter sends · Shift+Enter for a new line · @ for commands"


class Composer:
    def __init__(
        self,
        dispatcher: Dispatcher,
        send: Callable[[str], Any],
        commands: Callable[[], Any],
        recall: Callable[[], bool],
        drafts: Drafts,
        files: Callable[[Any], Any],
    ) -> None:
        """``commands``: "@" was typed in an empty box. ``recall``: edits the newest own message
        (Up in an empty box); False: there is none. ``files``: gets a file that was pasted."""
        self._box, self._send, self._stop = by_id("composer"), by_id("send"), by_id("stop")
        self._on_send, self._on_commands, self._on_recall = send, commands, recall
        self.drafts, self._on_files = drafts, files
        self._conversation = ""
        """Whose draft is in the box; empty: nobody's."""
        self._sent: tuple[str, str] | None = None
        """The conversation and the text that was sent and is no message yet: still a draft."""
        self._keeping: Any = None
        """The timer after which the draft is stored."""
        self._enabled = self._busy = self._composing = False
        self._waits_for_focus = False
        """It had the focus when it was disabled, and gets it back."""
        form = by_id("composer-form")
        self._listeners = Listeners()
        self._listeners.on(form, "submit", self._submitted)
        self._listeners.on(self._box, "keydown", self._key)
        self._listeners.on(self._box, "compositionstart", lambda _: self._set_composing(True))
        self._listeners.on(self._box, "compositionend", lambda _: self._set_composing(False))
        self._listeners.on(self._box, "paste", self._pasted)
        self._listeners.on(js.window, "pagehide", lambda _: self.keep_draft())
        dispatcher.on("input", "composer", lambda _, event: self._typed(event))
        by_id("hint").textContent = HINT

    @property
    def text(self) -> str:
        return str(self._box.value)

    @text.setter
    def text(self, value: str) -> None:
        self._box.value = value
        self._refresh()
        self._keep_draft_soon()

    def show_draft(self, conversation_id: str) -> None:
        """Another conversation is open: what was typed for it comes, the other draft is kept."""
        if conversation_id == self._conversation:
            return
        self.keep_draft()
        self._conversation = conversation_id
        self._box.value = self.drafts.of(conversation_id)
        self._refresh()

    def keep_draft(self) -> None:
        """Stores what is in the box, or was sent from it and is no message yet."""
        if self._conversation:
            where, sent = self._sent or ("", "")
            draft = self.text or (sent if where == self._conversation else "")
            self.drafts.put(self._conversation, draft)
            self.drafts.save()

    def became_message(self) -> None:
        """What was sent is stored as a message."""
        self._sent = None
        self.keep_draft()

    def give_back(self) -> None:
        """What was sent never became a message: nothing typed is lost, nor goes elsewhere."""
        if self._sent is None:
            return
        (where, text), self._sent = self._sent, None
        if where == self._conversation and not self.text:
            self.text = text
        elif where != self._conversation:
            self.drafts.put(where, self.drafts.of(where) or text)
            self.drafts.save()

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

    def take_up(self, text: str | None) -> None:
        """The palette is closed; ``text`` takes the place of what began with "@"; None: nothing."""
        if text is not None and self.text.startswith("@"):
            self.text = text
        self.focus()

    def focus(self) -> None:
        self._box.focus(preventScroll=True)

    def _refresh(self) -> None:
        self._send.disabled = not self._enabled or self._busy or not self.text.strip()
        grow(self._box)

    def _typed(self, event: Any) -> None:
        self._refresh()
        self._keep_draft_soon()
        if self.text == "@" and str(event.inputType).startswith("insert"):
            self._on_commands()

    def _keep_draft_soon(self) -> None:
        if self._keeping is not None:
            js.clearTimeout(self._keeping)
        self._keeping = js.setTimeout(create_once_callable(self.keep_draft), KEEP_AFTER)

    def _pasted(self, event: Any) -> None:
        """Text goes into the box; what is a file and no text is for others to look at."""
        data = event.clipboardData
        if data.files.length and not data.getData("text/plain"):
            event.preventDefault()
            self._on_files(data.files.item(0))

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
            self._sent = self._conversation, text
            self._box.value = ""
            self._refresh()
            self._on_send(text)


def _coarse_pointer() -> bool:
    return bool(js.matchMedia("(hover: none) and (pointer: coarse)").matches)
