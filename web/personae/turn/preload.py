"""The preload context: what @preload agents add to every request (reference: onLoad).

Built when a conversation opens, after every turn, and again when hooks, edits or commands may have
changed a store. An agent that fails adds nothing and stops nobody.
"""

from __future__ import annotations

import asyncio

from personae.errors import AgentError
from personae.package.model import AgentProgram
from personae.storage.journal import Journal
from personae.tools.invocation import Invocation
from personae.tools.registry import Registry
from personae.turn.agents import Agents
from personae.written import written


class Preload:
    def __init__(
        self,
        registry: Registry,
        agents: Agents,
        journal: Journal,
    ) -> None:
        self.programs = [p for p in registry.programs.values() if p.manifest.preload]
        self._agents = agents
        self._journal = journal
        self.texts: tuple[str, ...] = ()
        """What the agents returned, in load order."""
        self.stale = True

    async def rebuild(self) -> None:
        """Calls every onLoad; the agents work at the same time, their texts keep load order."""
        self.stale = False
        try:
            for program in self.programs:
                await self._agents.ensure_store(program)
            texts = await asyncio.gather(*(self._load(program) for program in self.programs))
            await self._journal.save()
        except BaseException:
            self.stale = True
            raise
        self.texts = tuple(text for text in texts if text)

    async def _load(self, program: AgentProgram) -> str | None:
        try:
            if await self._agents.exports(program, "onLoad"):
                return await self._agents.call(
                    program, "onLoad", written([]), Invocation("preload")
                )
        except AgentError:
            pass  # reported where it happened; the agent adds nothing
        return None
