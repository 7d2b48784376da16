"""The settings as they are now: read at the start, written soon after each change."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from personae.errors import PersonaeError, StorageError
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.player.environment import Environment
from personae.ui.dom.tasks import Tasks
from personae.ui.settings import app_settings
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.default_model import HostModel, first_suitable


class CurrentSettings:
    """Invariants: what could not be read is not overwritten; only what was changed in this tab is
    written, for another one may have changed the rest; what is the host's choice and not the
    user's is not stored. ``offered``: what counts while the user has chosen no model."""

    def __init__(
        self,
        environment: Environment,
        tasks: Tasks,
        report: Callable[[BaseException], None],
        offered: HostModel,
    ) -> None:
        self._environment, self._tasks, self._report = environment, tasks, report
        self._offered = offered
        self.value = offered.assumed(Settings())
        self._written = Settings()
        """What this tab had when it last read or wrote."""
        self._read = False
        self._saving: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Reads what is stored; what was chosen before that stays."""
        stored = await self._stored()
        if stored is not None:
            mine = self._offered.chosen(self.value)
            merged = app_settings.merged(stored, self._written, mine)
            self.value = self._offered.assumed(merged)
            self._written = stored
            self._read = True

    async def first_model(self) -> str:
        """A model of the provider that has none chosen; empty when it tells of none."""
        value, environment = self.value, self._environment
        client = ChatClient(environment.transport, environment.clock, environment.provider_facts)
        try:
            return first_suitable(
                await client.list_models(Endpoint(value.base_url, value.keys, ""))
            )
        except PersonaeError:
            return ""  # the request that needs it says what is wrong

    def change(self, changed: Settings) -> None:
        self.value = changed
        if self._saving is None or self._saving.done():
            self._saving = self._tasks.start(self._save())

    async def _save(self) -> None:
        if not self._read:
            await self.load()
        while self._read and self._written != self._offered.chosen(self.value):
            stored = await self._stored()
            if stored is None:
                return
            now = self._offered.chosen(self.value)
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
