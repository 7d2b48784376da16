"""The settings as they are now: read at the start, written soon after each change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from personae.errors import StorageError
from personae.player.environment import Environment
from personae.ui.dom.tasks import Tasks
from personae.ui.settings import app_settings
from personae.ui.settings.app_settings import Settings


class CurrentSettings:
    """Invariant: what could not be read is not overwritten."""

    def __init__(
        self, environment: Environment, tasks: Tasks, report: Callable[[BaseException], None]
    ) -> None:
        self._environment, self._tasks, self._report = environment, tasks, report
        self.value = Settings()
        self._read = False
        self._saving: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Reads what is stored; what was chosen before that stays."""
        try:
            stored = await app_settings.load(self._environment.storage)
        except StorageError as error:
            self._report(error)
        else:
            self.value = app_settings.merged(stored, self.value)
            self._read = True

    def change(self, changed: Settings) -> None:
        self.value = changed
        if self._saving is None or self._saving.done():
            self._saving = self._tasks.start(self._save())

    async def _save(self) -> None:
        saved = None
        while saved != self.value:
            if not self._read:
                await self.load()
            if not self._read:
                return
            saved = self.value
            await app_settings.save(self._environment.saver, saved)
