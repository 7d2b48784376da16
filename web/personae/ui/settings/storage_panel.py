"""The settings' part about data on this device: how much, how safe, and the backup."""

from __future__ import annotations

from typing import Any

import js

from personae.player.environment import Environment
from personae.storage.leases import files_alone
from personae.ui import formats
from personae.ui.dom.ask import Asker
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import part, show
from personae.ui.dom.files import read_file, save_file
from personae.ui.notices.toasts import Toasts
from personae.ui.settings.backup import restore_backup, write_backup


class StoragePanel:
    def __init__(
        self, dispatcher: Dispatcher, environment: Environment, asker: Asker, toasts: Toasts
    ) -> None:
        self._environment, self._asker, self._toasts = environment, asker, toasts
        self._box: Any = None
        dispatcher.on("action", "persist-storage", lambda *_: self._protect())
        dispatcher.on("action", "backup", lambda *_: self._backup())
        dispatcher.on("change", "restore", self._chosen)

    async def draw(self, box: Any) -> None:
        """``box``: the settings dialog."""
        self._box = box
        if not js.Reflect.has(js.navigator, "storage"):
            return
        manager = js.navigator.storage
        estimate, persisted = await manager.estimate(), await manager.persisted()
        used, quota = int(estimate.usage or 0), int(estimate.quota or 0)
        kept = (
            "The browser keeps it until you delete it."
            if persisted
            else "The browser may clear it when the device runs out of space."
        )
        part(box, "storage-note").textContent = (
            f"Everything is stored in this browser: {formats.size(used)} of about "
            f"{formats.size(quota)}. {kept}"
        )
        meter = part(box, "usage")
        meter.setAttribute("aria-label", "Storage used")
        meter.value = used / quota if quota else 0
        show(meter, bool(quota))
        show(part(box, "persist"), not persisted)

    async def _protect(self) -> None:
        granted = await ask_to_persist()
        await self.draw(self._box)
        self._toasts.show(
            "The browser will keep the data."
            if granted
            else "The browser declined for now. It often agrees once the page is a bookmark."
        )

    async def _backup(self) -> None:
        data = await write_backup(self._environment.storage)
        day = js.Date.new().toISOString()[:10]
        save_file(f"Personae {day}.zip", data, "application/zip")

    def _chosen(self, element: Any, _event: Any) -> Any:
        return self._restore(element) if element.files.length else None

    async def _restore(self, element: Any) -> None:
        file = element.files.item(0)
        data = await read_file(file)
        element.value = ""
        sure = await self._asker.confirm(
            "Restore this backup?",
            "Characters and conversations in it are added to what is here. Conversations that are "
            "newer here stay as they are. The page starts again afterwards.",
            "Restore",
        )
        if sure:
            async with files_alone(self._environment.lock, self._environment.clock):
                await restore_backup(self._environment.storage, data)
            js.location.reload()


async def ask_to_persist() -> bool:
    """Asks the browser to keep the data; some ask the user, others decide by themselves."""
    if not js.Reflect.has(js.navigator, "storage"):
        return False
    return bool(await js.navigator.storage.persist())
