"""From a package source to a stage on which conversations open: the player's own wiring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from personae.events import Events
from personae.llm.models import Models
from personae.package.model import Package
from personae.package.steps import Progress
from personae.player.environment import Environment
from personae.player.open_conversation import Openings
from personae.player.package_sources import Source, character_id, load_source
from personae.player.session import Services
from personae.settings import Settings
from personae.storage.conversations import Conversations
from personae.storage.saver import Saver
from personae.tools.registry import build_registry


@dataclass(frozen=True, slots=True)
class Stage:
    """A loaded character, before its first conversation is open."""

    package: Package
    conversations: Conversations
    openings: Openings
    saver: Saver

    async def close(self) -> None:
        """Ends what runs; what cannot be saved now is kept and tried again."""
        await self.openings.close()
        await self.saver.flush()


async def set_up(
    source: Source,
    environment: Environment,
    events: Events,
    settings: Callable[[], Settings],
    identity: str | None,
    progress: Progress | None,
) -> Stage:
    """Loads the package and makes what plays it. Raises PackageError."""
    facts = environment.provider_facts
    package, _ = await asyncio.gather(load_source(source, environment, progress), facts.load())
    saver = environment.saver
    conversations = Conversations(
        identity or character_id(source, package.digest),
        saver,
        environment.clock,
        environment.notifier,
        events.change,
    )
    models = Models(environment.transport, environment.clock, settings, facts)
    registry = build_registry(package)
    for problem in (*package.warnings, *registry.warnings):
        logging.getLogger("personae").warning("%s: %s", problem.file, problem.message)
    services = Services(package, registry, environment, events, models, settings)
    return Stage(package, conversations, Openings(services, conversations, saver), saver)
