"""What can be done with a message: copy, edit, send again, regenerate, continue, and the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from personae.conversation.entries import Entry
from personae.ui.dom.files import copy_text
from personae.ui.dom.menu import Item
from personae.ui.dom.page_dom import Listeners, by_id, clone, grow, mark, missing, part
from personae.ui.transcript.undo import undoable

if TYPE_CHECKING:
    from personae.ui.app import App

BUSY = "Wait until the reply is finished, or stop it first."


class Editing:
    def __init__(self, app: App) -> None:
        self._app = app
        on = app.page.dispatcher.on
        on("action", "copy-message", self._copy)
        on("action", "edit-message", lambda element, _: self.edit(_entry_id(element)))
        on("action", "regenerate", lambda *_: self.regenerate())
        on("action", "message-menu", self._menu)
        on("action", "cancel-edit", lambda element, _: self._close_editor(element))
        on("action", "save-and-resend", lambda element, _: self._resend(element))
        on("submit", "save-edit", lambda element, _: self._save(element))
        on("input", "editor", lambda element, _: grow(element))
        self._listeners = Listeners()
        self._listeners.on(by_id("feed"), "keydown", self._key)

    def _entry(self, entry_id: str) -> Entry | None:
        entries: list[Entry] = self._app.chat.player.entries
        return next((entry for entry in reversed(entries) if entry.id == entry_id), None)

    def _free(self) -> bool:
        """Whether the conversation may be changed now; says why not."""
        chat = self._app.chat
        if chat.player is None or chat.player.read_only:
            return False
        if chat.answering:
            self._app.page.toasts.show(BUSY)
        return not chat.answering

    def act(self, name: str, message: Any) -> bool:
        """A shortcut on the focused message; False when it means nothing for it."""
        entry_id = message.getAttribute("data-entry-id")
        if missing(entry_id) or self._entry(str(entry_id)) is None:
            return False
        if name == "copy":
            self._app.page.tasks.start(self._copy(message.querySelector("button"), None))
        elif name == "edit":
            self.edit(str(entry_id))
        elif name == "regenerate":
            self.regenerate()
        else:
            self.delete(str(entry_id))
        return True

    # Copy and the menu

    async def _copy(self, element: Any, _event: Any) -> None:
        entry = self._entry(_entry_id(element))
        if entry is not None:
            await copy_text(entry.content, element)

    def _menu(self, element: Any, _event: Any) -> None:
        entry = self._entry(_entry_id(element))
        if entry is not None and self._free():
            self._app.page.menus.open(element, self._items(entry))

    def _items(self, entry: Entry) -> list[Item]:
        last = self._last_message()
        items = []
        if entry.role == "user":
            items.append(Item("redo", "Send again", lambda: self.resubmit(entry.id, None)))
        elif entry is last:
            items.append(Item("redo", "Regenerate", self.regenerate, key="R"))
            items.append(Item("continue", "Continue", self.go_on))
        items.append(Item("edit", "Edit", lambda: self.edit(entry.id), key="E"))
        items.append(Item("fork", "Fork from here", lambda: self.fork(entry.id)))
        if entry.role == "assistant" and not entry.rejected:
            items.append(Item("reject", "Mark as unacceptable", lambda: self.reject(entry.id)))
        if entry is not last:
            items.append(
                Item("cut", "Remove everything after", lambda: self.truncate(entry.id), danger=True)
            )
        items.append(Item("trash", "Delete", lambda: self.delete(entry.id), danger=True))
        return items

    def _last_message(self) -> Entry | None:
        entries: list[Entry] = self._app.chat.player.entries
        spoken = (entry for entry in reversed(entries) if entry.role in ("user", "assistant"))
        return next(spoken, None)

    # The operations

    def _undoable(self, said: str, work: Callable[[Any], Any], *, answers: bool = False) -> None:
        """``work`` gets the player; ``answers``: it brings a response."""
        if not self._free():
            return
        chat, player = self._app.chat, self._app.chat.player
        change = undoable(player, self._app.page.toasts, said, work(player), chat.refresh_list)
        if answers:
            chat.respond(change)
        else:
            self._app.page.tasks.start(change)

    def regenerate(self) -> None:
        said = "The reply before was removed."
        self._undoable(said, lambda player: player.regenerate(), answers=True)

    def go_on(self) -> None:
        if self._free():
            self._app.chat.respond(self._app.chat.player.continue_())

    def resubmit(self, entry_id: str, text: str | None) -> None:
        said = "What followed was removed."
        self._undoable(said, lambda player: player.resubmit(entry_id, text), answers=True)

    def reject(self, entry_id: str) -> None:
        said = "The reply is struck out and will not be sent to the model again."
        self._undoable(said, lambda player: player.reject(entry_id))

    def truncate(self, entry_id: str) -> None:
        said = "Everything after this message was removed."
        self._undoable(said, lambda player: player.truncate(entry_id))

    def delete(self, entry_id: str) -> None:
        self._undoable("The message was deleted.", lambda player: player.delete(entry_id))

    def clear(self) -> None:
        self._undoable("The conversation was cleared.", lambda player: player.clear())

    async def fork(self, entry_id: str) -> None:
        await self._app.chat.player.fork(entry_id)
        self._app.page.toasts.show("This is the fork. The conversation before is in the list.")

    # The editor

    def edit(self, entry_id: str) -> None:
        """Opens the editor in the place of the message."""
        message = self._app.page.transcript.element_of(entry_id)
        entry = self._entry(entry_id)
        if message is None or entry is None or not self._free():
            return
        if not missing(message.querySelector(".editor")):
            return
        editor = clone("editor")
        editor.dataset.entryId = entry_id
        part(editor, "text").value = entry.content
        if entry.role == "assistant":
            part(editor, "resend").remove()
            part(editor, "save").classList.add("button-primary")
        mark(message, "editing", True)
        message.insertBefore(editor, part(message, "foot"))
        grow(part(editor, "text"))
        part(editor, "text").focus()

    def edit_last_own(self) -> bool:
        """Edits the newest user message; False when there is none in view."""
        entries: list[Entry] = self._app.chat.player.entries if self._app.chat.player else []
        if self._app.chat.answering:
            return False
        own = next((entry for entry in reversed(entries) if entry.role == "user"), None)
        if own is None or self._app.page.transcript.element_of(own.id) is None:
            return False
        self.edit(own.id)
        return True

    def _key(self, event: Any) -> None:
        """Escape leaves the editor; Ctrl+Enter does what its main button does."""
        editor = event.target.closest(".editor")
        if missing(editor) or event.isComposing:
            return
        if event.key == "Escape":
            event.preventDefault()
            self._close_editor(editor)
        elif event.key == "Enter" and (event.ctrlKey or event.metaKey):
            event.preventDefault()
            editor.querySelector(".button-primary").click()

    def _close_editor(self, element: Any) -> str:
        """Takes the editor away; returns its text."""
        editor = element.closest(".editor")
        message, text = editor.closest(".message"), str(part(editor, "text").value)
        editor.remove()
        mark(message, "editing", False)
        message.focus()
        return text

    def _save(self, element: Any) -> None:
        if not self._free():
            return
        entry_id = _entry_id(element)
        entry, text = self._entry(entry_id), self._close_editor(element)
        if entry is not None and text.strip() and text != entry.content:
            self._undoable("The message was changed.", lambda player: player.edit(entry_id, text))

    def _resend(self, element: Any) -> None:
        if not self._free():
            return
        entry_id = _entry_id(element)
        text = self._close_editor(element)
        if text.strip():
            self.resubmit(entry_id, text)


def _entry_id(element: Any) -> str:
    return str(element.closest("[data-entry-id]").dataset.entryId)
