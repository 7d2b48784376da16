"""What can be done with a conversation: rename, export, delete, clear, bring one in."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from personae.errors import UsageError
from personae.package.archive.unzip import MAX_FILE_BYTES
from personae.package.steps import Progress, run_async
from personae.ui.conversations import markdown_export as exports
from personae.ui.dom.files import read_file, save_file
from personae.ui.dom.menu import Item
from personae.ui.transcript.undo import delete_conversation

if TYPE_CHECKING:
    from personae.ui.app import App


class ConversationMenu:
    def __init__(self, app: App) -> None:
        self._app = app
        self._progress: Any = None
        on = app.page.dispatcher.on
        on("action", "conversation-menu", self._open_for)
        on("action", "chat-menu", lambda element, _: self._open_chat_menu(element))
        on("change", "import-conversation", self._chosen)

    @property
    def _player(self) -> Any:
        return self._app.chat.player

    def _open_for(self, element: Any, _event: Any) -> None:
        node = element.closest("[data-id]")
        identity = str(node.dataset.id)
        title = str(node.querySelector("[data-part=title]").textContent)
        self._app.page.menus.open(element, self._items(identity, title))

    def _items(self, identity: str, title: str) -> list[Item]:
        return [
            Item("edit", "Rename", lambda: self.rename(identity, title)),
            Item("export", "Export as Markdown", lambda: self.export_markdown(identity)),
            Item("export", "Export as JSON", lambda: self.export_json(identity)),
            Item("trash", "Delete", lambda: self.delete(identity), danger=True),
        ]

    def _open_chat_menu(self, element: Any) -> None:
        identity = str(self._player.conversation_id)
        items = [
            Item("edit", "Rename", lambda: self._rename_current(identity)),
            Item("export", "Export as Markdown", lambda: self.export_markdown(identity)),
            Item("export", "Export as JSON", lambda: self.export_json(identity)),
            Item("import", "Import a conversation", self._choose),
            Item("cut", "Clear", self._app.editing.clear, danger=True),
            Item("trash", "Delete", lambda: self.delete(identity), danger=True),
        ]
        self._app.page.menus.open(element, items)

    async def _rename_current(self, identity: str) -> None:
        listed = await self._player.list_conversations()
        title = next((item["title"] for item in listed if item["id"] == identity), "")
        await self.rename(identity, title)

    async def rename(self, identity: str, title: str) -> None:
        chosen = await self._app.asker.text("Name of the conversation", title, "Rename")
        if chosen:
            await self._player.rename_conversation(identity, chosen)
            await self._app.chat.refresh_list()

    async def delete(self, identity: str) -> None:
        await delete_conversation(
            self._player, self._app.page.toasts, identity, self._app.chat.refresh_list
        )
        await self._app.chat.refresh_list()

    async def export_json(self, identity: str) -> None:
        data = await self._player.export_conversation(identity)
        name = exports.file_name(data["character"], data["conversation"].get("title", ""), "json")
        save_file(name, json.dumps(data, indent=1, ensure_ascii=False), "application/json")

    async def export_markdown(self, identity: str) -> None:
        data = await self._player.export_conversation(identity)
        name = exports.file_name(data["character"], data["conversation"].get("title", ""), "md")
        save_file(name, exports.as_markdown(data, self._app.chat.package.intro), "text/markdown")

    # Bringing one in

    def _choose(self) -> None:
        from personae.ui.dom.page_dom import by_id

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
        if self._player is None:
            raise UsageError("no_character", "Open the character first, then its conversation.")
        from personae.ui.settings.progress_dialog import ProgressDialog

        self._progress = self._progress or ProgressDialog()
        imported = await self._progress.run(
            "Bringing in the conversation", lambda heard: self._import(file, heard)
        )
        if imported is None:
            return
        identity, character = imported
        await self._app.chat.open_conversation(identity)
        if character != self._app.chat.package.name:
            self._app.page.toasts.show(f"This conversation was with {character}.")

    async def _import(self, file: Any, progress: Progress) -> tuple[str, Any]:
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
        identity = await self._player.import_conversation(data)
        return identity, data.get("character")
