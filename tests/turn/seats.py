"""A seat at a table without a page: fakes of the ports, a journal, a room, one character."""

from __future__ import annotations

from personae.llm.models import Models
from personae.package.model import Package
from personae.settings import Settings
from personae.storage.conversations import Conversations
from personae.storage.saver import Saver
from personae.tools.registry import build_registry
from personae.turn.events import Events
from personae.turn.room import Room, Surroundings
from personae.turn.seat import Seat

from tests.fakes import World


async def take_seat(world: World, package: Package) -> Seat:
    """The seat of a new conversation's first member."""
    events = Events()
    provider = {"base_url": "https://model.test/v1", "api_key": "k", "model": "m"}
    settings = Settings().changed(provider)
    models = Models(world.transport, world.clock, lambda: settings)
    saver = Saver(world.storage, world.clock, world.notifier)
    stored = Conversations("c", saver, world.clock, world.notifier, events.change)
    surroundings = Surroundings(models, lambda: settings, world.clock, world.sandbox, events)
    return Seat(Room(surroundings, await stored.create()), package, build_registry(package))
