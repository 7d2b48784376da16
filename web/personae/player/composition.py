"""From a package source to a character whose conversations can be opened: the player's wiring."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from personae.conversation.entries import FIRST_MEMBER
from personae.llm.models import Models
from personae.package.model import Package
from personae.package.sources import Source, character_id, load_source
from personae.package.steps import Progress
from personae.player.environment import Environment
from personae.player.open_conversation import OpenConversation
from personae.player.seats import Cast, Character
from personae.settings import Settings
from personae.storage.conversations import Conversations
from personae.storage.saver import Saver
from personae.tools.registry import Registry, build_registry
from personae.turn.events import Events
from personae.turn.room import Surroundings


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded character with its conversations, of which one is open."""

    package: Package
    registry: Registry
    conversations: Conversations
    current: OpenConversation
    saver: Saver

    async def close(self) -> None:
        """Ends what runs; what cannot be saved now is kept and tried again."""
        await self.current.close()
        await self.saver.flush()


async def set_up(
    source: Source,
    environment: Environment,
    events: Events,
    settings: Callable[[], Settings],
    identity: str | None,
    progress: Progress | None,
) -> Loaded:
    """Loads the package and makes what plays it. Raises PackageError."""
    facts = environment.provider_facts
    package, _ = await asyncio.gather(
        load_source(source, environment.fetch_package, environment.install, progress), facts.load()
    )
    saver = environment.saver
    conversations = Conversations(
        identity or character_id(source, package.digest),
        saver,
        environment.clock,
        environment.notifier,
        events.change,
    )
    registry = build_registry(package)
    for problem in (*package.warnings, *registry.warnings):
        logging.getLogger("personae").warning("%s: %s", problem.file, problem.message)
    surroundings = Surroundings(
        Models(environment.transport, environment.clock, settings, facts),
        settings,
        environment.clock,
        environment.sandbox,
        events,
        environment.install,
        environment.web_reader,
    )
    cast = Cast(surroundings, {FIRST_MEMBER: Character(package, registry)})
    current = OpenConversation(cast, conversations, environment, events)
    return Loaded(package, registry, conversations, current, saver)
