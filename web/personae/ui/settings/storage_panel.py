"""The settings' part about data on this device: how much, how safe, and the backup."""

from __future__ import annotations

from typing import Any

import js

from personae.package.steps import Progress, run_async
from personae.player.environment import Environment
from personae.storage.leases import files_alone
from personae.storage.transfer.backup import BackupWriter
from personae.storage.transfer.backup_file import Backup, read_backup
from personae.storage.transfer.restore import Restoring
from personae.ui import formats
from personae.ui.dom.ask import Asker
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import part, show
from personae.ui.dom.files import read_file, save_file
from personae.ui.notices.toasts import Toasts
from personae.ui.settings import app_settings, backup_words
from personae.ui.settings.progress_dialog import ProgressDialog


class StoragePanel:
    def __init__(
        self, dispatcher: Dispatcher, environment: Environment, asker: Asker, toasts: Toasts
    ) -> None:
        self._environment, self._asker, self._toasts = environment, asker, toasts
        self._progress = ProgressDialog()
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
        names = await self._progress.run("Backing up", self._write)
        if names:
            self._toasts.show(backup_words.left_out(names), seconds=8)

    async def _write(self, progress: Progress) -> list[str]:
        """Offers the files; what none of them holds."""
        storage = self._environment.storage
        kept = app_settings.restorable(await app_settings.load(storage))
        writer = BackupWriter(storage, kept, progress)
        day = js.Date.new().toISOString()[:10]
        number = 0
        async for data in writer.parts():
            number += 1
            name = f"Personae {day}.zip" if number == 1 else f"Personae {day} ({number}).zip"
            save_file(name, data, "application/zip")
        return writer.left_out

    def _chosen(self, element: Any, _event: Any) -> Any:
        return self._restore(element) if element.files.length else None

    async def _restore(self, element: Any) -> None:
        data = await read_file(element.files.item(0))
        element.value = ""
        environment = self._environment
        now = environment.clock.now()
        backup = await self._progress.run(
            "Reading the backup", lambda heard: run_async(read_backup(data, now), heard)
        )
        if backup is None:
            return
        own = await app_settings.load(environment.storage)
        asked = backup_words.question(backup, own)
        if not await self._asker.confirm("Restore this backup?", asked, "Restore"):
            return
        await self._progress.run("Restoring", lambda heard: self._merge(backup, heard))
        js.location.reload()

    async def _merge(self, backup: Backup, progress: Progress) -> None:
        environment = self._environment
        await environment.saver.flush()

        def done(number: int, total: int) -> None:
            progress("saving", number, total)

        async with files_alone(environment.lock, environment.clock):
            found = await Restoring(environment.storage, backup, done).run()
        own = await app_settings.load(environment.storage)
        changed = app_settings.restored(own, backup.settings)
        changed = app_settings.without_access(changed, found.characters)
        if changed != own:
            await app_settings.save(environment.saver, changed)


async def ask_to_persist() -> bool:
    """Asks the browser to keep the data; some ask the user, others decide by themselves."""
    if not js.Reflect.has(js.navigator, "storage"):
        return False
    return bool(await js.navigator.storage.persist())
