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
    """Invariants: what could not be read is not overwritten; only what was changed in this tab is
    written, for another one may have changed the rest."""

    def __init__(
        self, environment: Environment, tasks: Tasks, report: Callable[[BaseException], None]
    ) -> None:
        self._environment, self._tasks, self._report = environment, tasks, report
        self.value = Settings()
        self._written = Settings()
        """What this tab had when it last read or wrote."""
        self._read = False
        self._saving: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Reads what is stored; what was chosen before that stays."""
        stored = await self._stored()
        if stored is not None:
            self.value = app_settings.merged(stored, self._written, self.value)
            self._written = stored
            self._read = True

    def change(self, changed: Settings) -> None:
        self.value = changed
        if self._saving is None or self._saving.done():
            self._saving = self._tasks.start(self._save())

    async def _save(self) -> None:
        if not self._read:
            await self.load()
        while self._read and self._written != self.value:
            stored = await self._stored()
            if stored is None:
                return
            now = self.value
            written = app_settings.merged(stored, self._written, now)
            self._written = now
            await app_settings.save(self._environment.saver, written)

    async def _stored(self) -> Settings | None:
        """None, and a report, when nothing can be read."""
        try:
            return await app_settings.load(self._environment.saver)
        except StorageError as error:
            self._report(error)
            return None
