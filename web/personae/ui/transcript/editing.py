"""What can be done with a message: copy, edit, send again, regenerate, continue, and the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from personae.conversation.entries import Entry
from personae.player.character_player import CharacterPlayer
from personae.player.undoing import Deed
from personae.ui.chat import Chat, Reply
from personae.ui.dom.elements import by_id, clone, grow, mark, missing, part
from personae.ui.dom.files import copy_text
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.menu import Item
from personae.ui.page import Page
from personae.ui.transcript.undo import BUSY, undoable

T = TypeVar("T")


class Editing:
    def __init__(self, page: Page, chat: Chat) -> None:
        self._page, self._chat = page, chat
        on = page.dispatcher.on
        on("action", "copy-message", self._copy)
        on("action", "edit-message", lambda element, _: self.edit(_entry_id(element)))
        on("action", "regenerate", lambda *_: self.regenerate())
        on("action", "continue", lambda *_: self.go_on())
        on("action", "message-menu", self._menu)
        on("action", "cancel-edit", lambda element, _: self._close_editor(element))
        on("action", "save-and-resend", lambda element, _: self._resend(element))
        on("submit", "save-edit", lambda element, _: self._save(element))
        on("input", "editor", lambda element, _: grow(element))
        self._listeners = Listeners()
        self._listeners.on(by_id("feed"), "keydown", self._key)

    def _entry(self, entry_id: str) -> Entry | None:
        entries = reversed(self._chat.entries)
        return next((entry for entry in entries if entry.id == entry_id), None)

    def _free(self) -> bool:
        """Whether the conversation may be changed now; says why not."""
        chat = self._chat
        if not chat.on_stage or chat.player.read_only:
            return False
        if chat.answering:
            self._page.toasts.show(BUSY)
        return not chat.answering

    def act(self, name: str, message: Any) -> bool:
        """A shortcut on the focused message; False when it means nothing for it."""
        entry_id = message.getAttribute("data-entry-id")
        if missing(entry_id) or self._entry(str(entry_id)) is None:
            return False
        if name == "copy":
            self._page.tasks.start(self._copy(message.querySelector("button"), None))
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
            self._page.menus.open(element, self._items(entry))

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
        entries = reversed(self._chat.entries)
        spoken = (entry for entry in entries if entry.role in ("user", "assistant"))
        return next(spoken, None)

    # The operations

    def _change(self, said: str, work: Callable[[CharacterPlayer, Deed], Awaitable[None]]) -> None:
        """Changes the conversation so that it can be undone."""
        if self._free():
            self._page.tasks.start(self._undoable(said, work))

    def _answer(self, said: str, work: Callable[[CharacterPlayer, Deed], Awaitable[Reply]]) -> None:
        """As ``_change``, with what brings a response."""
        if self._free():
            self._chat.respond(self._undoable(said, work))

    def _undoable(
        self, said: str, work: Callable[[CharacterPlayer, Deed], Awaitable[T]]
    ) -> Coroutine[Any, Any, T]:
        chat = self._chat
        return undoable(chat.player, self._page.toasts, said, work, chat.refresh_list)

    def regenerate(self) -> None:
        said = "The reply before was removed."
        self._answer(said, lambda player, deed: player.regenerate(deed=deed))

    def go_on(self) -> None:
        if self._free():
            self._chat.respond(self._chat.player.continue_())

    def resubmit(self, entry_id: str, text: str | None) -> None:
        said = "What followed was removed."
        self._answer(said, lambda player, deed: player.resubmit(entry_id, text, deed=deed))

    def reject(self, entry_id: str) -> None:
        said = "The reply is struck out and will not be sent to the model again."
        self._change(said, lambda player, deed: player.reject(entry_id, deed=deed))

    def truncate(self, entry_id: str) -> None:
        said = "Everything after this message was removed."
        self._change(said, lambda player, deed: player.truncate(entry_id, deed=deed))

    def delete(self, entry_id: str) -> None:
        self._change(
            "The message was deleted.", lambda player, deed: player.delete(entry_id, deed=deed)
        )

    def clear(self) -> None:
        self._change("The conversation was cleared.", lambda player, deed: player.clear(deed=deed))

    async def fork(self, entry_id: str) -> None:
        await self._chat.player.fork(entry_id)
        self._page.toasts.show("This is the fork. The conversation before is in the list.")

    # The editor

    def edit(self, entry_id: str) -> None:
        """Opens the editor in the place of the message."""
        message = self._page.transcript.element_of(entry_id)
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
        if self._chat.answering:
            return False
        entries = reversed(self._chat.entries)
        own = next((entry for entry in entries if entry.role == "user"), None)
        if own is None or self._page.transcript.element_of(own.id) is None:
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
            self._change(
                "The message was changed.",
                lambda player, deed: player.edit(entry_id, text, deed=deed),
            )

    def _resend(self, element: Any) -> None:
        if not self._free():
            return
        entry_id = _entry_id(element)
        text = self._close_editor(element)
        if text.strip():
            self.resubmit(entry_id, text)


def _entry_id(element: Any) -> str:
    return str(element.closest("[data-entry-id]").dataset.entryId)
