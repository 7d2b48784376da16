"""What works for one member while the conversation is open: its agents, tools and turn.

A seat ends when another conversation is opened; its workers end with it, so that nothing an agent
keeps in memory reaches another conversation (reference: Persistent storage).
"""

from __future__ import annotations

from personae.conversation.entries import FIRST_MEMBER
from personae.llm.request.encoded import Part
from personae.package.model import Package
from personae.storage.belongings import Belongings
from personae.tools.agent_tools import agent_tools
from personae.tools.executor import Executor
from personae.tools.registry import Registry
from personae.turn.agents import Agents
from personae.turn.hooks import Hooks
from personae.turn.preload import Preload
from personae.turn.request.assembly import assemble
from personae.turn.request.perspective import Perspective
from personae.turn.room import Room
from personae.turn.studio.bridge import StudioBridge
from personae.turn.studio.call_model import ModelCalls


class Seat:
    def __init__(
        self, room: Room, package: Package, registry: Registry, member: str = FIRST_MEMBER
    ) -> None:
        self.room = room
        self.member = member
        self.package = package
        self.registry = registry
        surroundings, journal = room.surroundings, room.journal
        self.belongings = Belongings(journal, member)
        self.agents = Agents(package, room, self.belongings)
        self.tools = agent_tools(registry.tools.values(), self.agents.call)
        """What the character may call in its turn."""
        self.executor = Executor(journal.take_number, surroundings.install, room.defect)
        self.hooks = Hooks(registry, self.agents, journal, self.belongings)
        self.preload = Preload(registry, self.agents, journal)
        self.model_calls = ModelCalls(
            registry, self.agents.call, self.executor, room, self.belongings.owner
        )
        self.perspective = Perspective(lambda: journal.entries)
        own, call_model = self.belongings, self.model_calls.call
        self.agents.connect(
            StudioBridge(room, own, package, registry, self.agents.written_store, call_model)
        )

    async def catch_up(self) -> None:
        """Brings the agents up to date: new stores, edits they have not heard of, preload."""
        room = self.room
        if room.user_acted and self.model_calls.take_refused_early():
            self.preload.stale = True
        for program in self.registry.hooked("conversationStart", private=True):
            if self.belongings.store(program.agent_id) is None:
                room.display.show("preload", program.agent_id)
                await self.agents.ensure_store(program)
        if self.belongings.untold():
            room.display.show("hooks")
            if await self.hooks.after_user_edit(user_acted=room.user_acted):
                self.preload.stale = True
        if self.preload.stale:
            if self.preload.programs:
                room.display.show("preload")
            await self.preload.rebuild()

    def messages(self) -> list[Part]:
        """The messages of the next request."""
        source = self.room.models.source
        return assemble(self.package, self.preload.texts, self.perspective.history(source))

    async def keep_up(self) -> None:
        """Gets a long history ready to be sent, without holding the page up."""
        pause = self.room.clock.sleep
        await self.perspective.keep_up(lambda: pause(0))
