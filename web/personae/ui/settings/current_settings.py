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
    """Invariants: what could not be read is not overwritten; what is the host's choice and not the
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
        self._read = False
        self._saving: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Reads what is stored; what was chosen before that stays."""
        try:
            stored = await app_settings.load(self._environment.storage)
        except StorageError as error:
            self._report(error)
        else:
            merged = app_settings.merged(stored, self._offered.chosen(self.value))
            self.value = self._offered.assumed(merged)
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
        saved = None
        while saved != self.value:
            if not self._read:
                await self.load()
            if not self._read:
                return
            saved = self.value
            await app_settings.save(self._environment.saver, self._offered.chosen(saved))
