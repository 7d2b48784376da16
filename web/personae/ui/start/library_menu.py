"""What can be done with a stored character: update it, reload its folder, remove it."""

from __future__ import annotations

from typing import Any

import js

from personae.package.identity import FOLDER
from personae.storage.library import Library, Removed
from personae.ui import formats
from personae.ui.dom.ask import Asker
from personae.ui.dom.elements import by_id, part
from personae.ui.dom.files import (
    can_choose_folder,
    choose_folder,
    copy_text,
    read_file_list,
    read_folder,
)
from personae.ui.dom.menu import Item
from personae.ui.page import Page
from personae.ui.start.character_loading import CharacterLoading
from personae.ui.start.file_changes import compare

SECONDS = 10


class LibraryMenu:
    def __init__(
        self, page: Page, library: Library, loading: CharacterLoading, asker: Asker
    ) -> None:
        self._page, self._library, self._loading, self._asker = page, library, loading, asker
        self._folders: dict[str, Any] = {}
        """Handles of project folders by the character they hold, for this session."""
        on = page.dispatcher.on
        on("action", "character-menu", lambda element, _: self._open_menu(element))
        on("action", "open-folder", lambda *_: self._open_folder())
        on("change", "load-folder", self._folder_chosen)

    def _open_menu(self, element: Any) -> Any:
        card = element.closest("li")
        return self._show_menu(element, str(card.dataset.id), str(part(card, "name").textContent))

    async def _show_menu(self, element: Any, identity: str, name: str) -> None:
        record = await self._record(identity)
        source = str(record.get("source") or "")
        items = []
        if source.startswith("http"):
            items.append(Item("redo", "Update from the link", lambda: self.update(identity, name)))
            items.append(Item("link", "Copy a link to share", lambda: self._copy_link(source)))
        if source.startswith(FOLDER):
            items.append(Item("redo", "Reload the folder", lambda: self.reload(identity, source)))
        items.append(Item("trash", "Remove", lambda: self.remove(identity, name), danger=True))
        self._page.menus.open(element, items)

    async def _record(self, identity: str) -> dict[str, Any]:
        return await self._library.find(identity) or {}

    async def _copy_link(self, source: str) -> None:
        await copy_text(
            f"{js.location.origin}{js.location.pathname}?loadCharacter={js.encodeURIComponent(source)}"
        )
        self._page.toasts.show("The link is on the clipboard.")

    async def update(self, identity: str, name: str) -> None:
        """Fetches the package again and says what is new in it."""
        before = await self._record(identity)
        if await self._loading.open_url(str(before["source"])):
            await self._tell_changes(identity, before, name)

    async def _tell_changes(self, identity: str, before: dict[str, Any], name: str) -> None:
        after = await self._record(identity)
        if not after:
            return
        changes = compare(before.get("files", ()), after["files"]).text()
        self._page.toasts.show(
            f"{name} was updated. {changes}" if changes else f"{name} is up to date.", seconds=10
        )

    async def remove(self, identity: str, name: str) -> None:
        """Removes the package after a question; its conversations stay for when it comes back."""
        record = await self._record(identity)
        freed = formats.size(int(record.get("size") or 0))
        sure = await self._asker.confirm(
            f"Remove {name}?",
            f"This frees {freed}. The conversations stay on this device and are there again when "
            "the same character is loaded again.",
            "Remove",
        )
        if not sure:
            return
        removed = await self._library.keep_for_undo(identity)
        await self._loading.remove(identity)
        if removed is not None:
            self._page.toasts.show(
                f"{name} was removed.",
                action="Undo",
                work=lambda: self._bring_back(removed),
                seconds=SECONDS,
            )

    async def _bring_back(self, removed: Removed) -> None:
        await self._library.bring_back(removed)
        if self._page.shell.screen == "start":
            await self._loading.show_start()

    # Project folders

    async def _open_folder(self, known_as: str | None = None) -> None:
        if not can_choose_folder():
            by_id("load-folder").click()
            return
        chosen = await choose_folder()
        if chosen is not None:
            name, handle = chosen
            known_as = known_as or await self._held_in(handle)
            await self._read(handle, name, known_as)

    async def _held_in(self, handle: Any) -> str | None:
        """The character that a folder held when it was read before."""
        for identity, known in self._folders.items():
            if await known.isSameEntry(handle):
                return identity
        return None

    async def _read(self, handle: Any, name: str, known_as: str | None) -> bool:
        if not await self._loading.open_files(read_folder(handle), name, known_as):
            return False
        self._folders[self._loading.on_stage] = handle
        return True

    def _folder_chosen(self, element: Any, _event: Any) -> Any:
        return self._take_folder(element) if element.files.length else None

    async def _take_folder(self, element: Any) -> None:
        name, files = await read_file_list(element.files)
        element.value = ""

        async def given() -> dict[str, bytes]:
            return files

        await self._loading.open_files(given(), name)

    async def reload(self, identity: str, source: str) -> None:
        """Reads the folder again, asking for it where the browser has forgotten it."""
        handle = self._folders.get(identity)
        if handle is None:
            await self._open_folder(identity)
        elif await self._read(handle, source.removeprefix(FOLDER), identity):
            self._page.toasts.show("The folder was read again.")
