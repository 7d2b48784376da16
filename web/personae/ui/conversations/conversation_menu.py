"""What can be done with a conversation: rename, export, delete, clear, bring one in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from personae.errors import UsageError
from personae.package.archive.unzip import MAX_FILE_BYTES
from personae.package.steps import Progress, run_async
from personae.player.character_player import CharacterPlayer
from personae.ui.chat import Chat
from personae.ui.conversations import markdown_export as exports
from personae.ui.dom.ask import Asker
from personae.ui.dom.elements import by_id
from personae.ui.dom.files import read_file, save_file
from personae.ui.dom.menu import Item
from personae.ui.page import Page
from personae.ui.transcript.undo import delete_conversation


class ConversationMenu:
    """``clear``: empties the open conversation."""

    def __init__(self, page: Page, chat: Chat, asker: Asker, clear: Callable[[], None]) -> None:
        self._page, self._chat, self._asker, self._clear = page, chat, asker, clear
        self._progress: Any = None
        on = page.dispatcher.on
        on("action", "conversation-menu", self._open_for)
        on("action", "chat-menu", lambda element, _: self._open_chat_menu(element))
        on("change", "import-conversation", self._chosen)

    def _open_for(self, element: Any, _event: Any) -> None:
        node = element.closest("[data-id]")
        identity = str(node.dataset.id)
        title = str(node.querySelector("[data-part=title]").textContent)
        self._page.menus.open(element, self._items(identity, title))

    def _items(self, identity: str, title: str) -> list[Item]:
        return [
            Item("edit", "Rename", lambda: self.rename(identity, title)),
            Item("export", "Export as Markdown", lambda: self.export_markdown(identity)),
            Item("export", "Export as JSON", lambda: self.export_json(identity)),
            Item("trash", "Delete", lambda: self.delete(identity), danger=True),
        ]

    def _open_chat_menu(self, element: Any) -> None:
        identity = self._chat.player.conversation_id
        items = [
            Item("edit", "Rename", lambda: self._rename_current(identity)),
            Item("export", "Export as Markdown", lambda: self.export_markdown(identity)),
            Item("export", "Export as JSON", lambda: self.export_json(identity)),
            Item("import", "Import a conversation", self._choose),
            Item("cut", "Clear", self._clear, danger=True),
            Item("trash", "Delete", lambda: self.delete(identity), danger=True),
        ]
        self._page.menus.open(element, items)

    async def _rename_current(self, identity: str) -> None:
        listed = await self._chat.player.list_conversations()
        title = next((item["title"] for item in listed if item["id"] == identity), "")
        await self.rename(identity, title)

    async def rename(self, identity: str, title: str) -> None:
        chosen = await self._asker.text("Name of the conversation", title, "Rename")
        if chosen:
            await self._chat.player.rename_conversation(identity, chosen)
            await self._chat.refresh_list()

    async def delete(self, identity: str) -> None:
        chat = self._chat
        toasts, drafts = self._page.toasts, self._page.composer.drafts
        await delete_conversation(chat.player, toasts, drafts, identity, chat.refresh_list)
        await chat.refresh_list()

    async def export_json(self, identity: str) -> None:
        data = await self._chat.player.export_conversation(identity)
        name = exports.file_name(data["character"], data["conversation"].get("title", ""), "json")
        save_file(name, json.dumps(data, indent=1, ensure_ascii=False), "application/json")

    async def export_markdown(self, identity: str) -> None:
        data = await self._chat.player.export_conversation(identity)
        name = exports.file_name(data["character"], data["conversation"].get("title", ""), "md")
        save_file(name, exports.as_markdown(data, self._chat.package.intro), "text/markdown")

    # Bringing one in

    def _choose(self) -> None:
        by_id("import-file").click()

    def _chosen(self, element: Any, _event: Any) -> Any:
        return self._import_and_clear(element) if element.files.length else None

    async def _import_and_clear(self, element: Any) -> None:
        try:
            await self.import_file(element.files.item(0))
        finally:
            element.value = ""

    async def import_file(self, file: Any) -> None:
        """Opens an exported conversation as a new one of the character on stage."""
        from personae.ui.settings.progress_dialog import ProgressDialog

        self._progress = self._progress or ProgressDialog()
        player = self._chat.player
        imported = await self._progress.run(
            "Bringing in the conversation", lambda heard: self._import(player, file, heard)
        )
        if imported is None:
            return
        identity, character = imported
        await self._chat.open_conversation(identity)
        if character != self._chat.package.name:
            # Not with whom: that is a text of whoever made the file.
            self._page.toasts.show("This conversation was with another character.")

    async def _import(
        self, player: CharacterPlayer, file: Any, progress: Progress
    ) -> tuple[str, Any]:
        """The id of the conversation, and who it was with."""
        from personae.storage.transfer.json_in_steps import read_json

        if file.size > MAX_FILE_BYTES:
            most = MAX_FILE_BYTES >> 20
            raise UsageError("bad_import", f"{file.name} is larger than {most} MiB.")
        try:
            text = (await read_file(file)).decode()
            data = await run_async(read_json(text), progress)
        except ValueError:
            raise UsageError("bad_import", f"{file.name} is not a JSON file.") from None
        identity = await player.import_conversation(data)
        return identity, data.get("character")
