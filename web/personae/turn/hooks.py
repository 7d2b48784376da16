"""Hook events (reference: Hook events, Parts 1 and 2).

Invariants: hooks run one at a time in load order; each store is saved after its hook; a hook that
fails is logged and the next one runs. When: conversationStart in ``Agents.ensure_store``,
beforeResponse and afterResponse in ``turn.py``, afterToolCall in ``broker.py``, afterUserEdit in
``Seat.catch_up``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from personae.errors import AgentError
from personae.package.model import AgentProgram, HookEvent, hook_function
from personae.sandbox.process import CALL_DEADLINE
from personae.storage.belongings import Belongings
from personae.storage.journal import Journal
from personae.tools.invocation import Invocation
from personae.tools.registry import Registry
from personae.turn.agents import Agents
from personae.written import Written, written


class Hooks:
    def __init__(
        self,
        registry: Registry,
        agents: Agents,
        journal: Journal,
        belongings: Belongings,
    ) -> None:
        self._registry = registry
        self._agents = agents
        self._journal = journal
        self._belongings = belongings

    async def before_response(self, user_text: str, *, regenerate: bool) -> bool:
        """Whether any hook ran: then the preload context is stale."""
        event = {"userText": user_text, "regenerate": regenerate, "respondingToHuman": True}
        return await self._notify("beforeResponse", event)

    async def after_response(self, event: dict[str, Any]) -> bool:
        return await self._notify("afterResponse", event)

    async def after_tool_call(self, event: dict[str, Any]) -> bool:
        """Tells every agent but the one that was called."""
        return await self._notify("afterToolCall", event, without=event["agentId"])

    async def after_user_edit(self, *, user_acted: bool) -> bool:
        """Tells the agents that have not heard of the saved edit, and notes each one told.

        Those that may call the model hear of it once the user has acted: before the next response.
        """
        deleted, viable = self._belongings.lost()
        event = {"deletedToolCallIds": deleted, "lastViableToolCallId": viable}
        told, ran = written([event]), False
        for agent_id in self._belongings.untold():
            program = self._registry.find(agent_id)
            if program is not None and not user_acted and "studio.model" in program.manifest.apis:
                continue
            if program is not None:
                ran |= await self._run("afterUserEdit", program, told)
            self._belongings.edit_told(agent_id)
            await self._journal.save()
        return ran

    def told_of_edits(self) -> list[str]:
        """The owners that hear of edits: granted calls are theirs too, so private ones."""
        hearing = self._registry.hooked("afterUserEdit", private=True)
        return [self._belongings.owner(program.agent_id) for program in hearing]

    async def _notify(
        self, name: HookEvent, event: dict[str, Any], without: str | None = None
    ) -> bool:
        programs: Iterable[AgentProgram] = self._registry.hooked(name)
        told, ran = written([event]), False
        for program in programs:
            if program.agent_id != without:
                ran |= await self._run(name, program, told)
                await self._journal.save()
        return ran

    async def _run(self, name: HookEvent, program: AgentProgram, told: Written) -> bool:
        """Whether the agent has such a hook, be it that it failed."""
        function = hook_function(name)
        try:
            if not await self._agents.exports(program, function):
                return False
            # An edit holds the user up, so its hooks get no two minutes.
            deadline = CALL_DEADLINE if name == "afterUserEdit" else None
            await self._agents.call(program, function, told, Invocation("hook"), deadline=deadline)
        except AgentError:
            pass  # reported where it happened; the conversation goes on
        return True
