"""Calls into agents: one running process per instance, its store, its context.

Reference: Exported functions; The context object; Persistent storage; Hook events,
conversationStart. Invariants: an agent runs one call at a time; a call that fails leaves its store
as it was; an agent that is already answering is refused when its own call leads back to it; the
first call of an agent in a conversation comes after its conversationStart hook. The new store is
stored with what the caller saves next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Protocol

from personae.conversation.changes import AgentsChanged
from personae.errors import AgentError
from personae.package.model import AgentProgram, Package, hook_function
from personae.sandbox.process import AgentProcess, Notice, StoreText
from personae.storage.belongings import Belongings
from personae.storage.records import parsed_store
from personae.tools.invocation import Invocation
from personae.turn.room import Room
from personae.unicode import plain
from personae.written import Written, dumps, written


class Bridge(Protocol):
    """What agents reach through ``studio``."""

    async def request(
        self,
        program: AgentProgram,
        invocation: Invocation,
        method: str,
        arguments: Mapping[str, Any],
    ) -> Any:
        """Answers what a call asks for, see ``bridge_requests.Serve``. Raises BridgeError."""
        ...

    @property
    def notice(self) -> Notice: ...


class Agents:
    def __init__(self, package: Package, room: Room, belongings: Belongings) -> None:
        self._package = package
        self._room = room
        self._belongings = belongings
        self._journal = room.journal
        self._bridge: Bridge
        self._processes: dict[str, AgentProcess] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    def connect(self, bridge: Bridge) -> None:
        """What the agents reach; given before the first call."""
        self._bridge = bridge

    def store(self, program: AgentProgram) -> Any:
        """A copy of an agent's store; what it starts with when it has not been called yet.

        Raises BridgeError ``store_unreadable``.
        """
        return parsed_store(self._store_text(program))

    def written_store(self, program: AgentProgram) -> Written:
        """The same as its text."""
        text = self._store_text(program)
        parsed_store(text)
        return Written(text)

    def worker_state(self, agent_id: str) -> str:
        """The state of its channel (``protocol.json``); closed: no worker runs."""
        process = self._processes.get(agent_id)
        return "closed" if process is None else process.state

    async def exports(self, program: AgentProgram, function: str) -> bool:
        """Whether the agent exports the function; starts it. Raises AgentError."""
        with self._reported(program, "start"):
            return function in await self._process(program).start()

    async def call(
        self,
        program: AgentProgram,
        function: str,
        arguments: Written,
        invocation: Invocation,
        *,
        verbatim: bool = False,
        deadline: float | None = None,
    ) -> str | None:
        """What the function returns. Raises AgentError; the caller saves the journal.

        ``arguments``: a list. ``deadline`` in milliseconds lowers the agent's own.
        """
        await self.ensure_store(program)
        # Who runs a command hears of its failure; of any other, only the events tell.
        with self._reported(program, function, emit=invocation.invoked_by != "direct"):
            return await self._run(program, function, arguments, invocation, verbatim, deadline)

    async def ensure_store(self, program: AgentProgram) -> None:
        """Creates the agent's store for this conversation if it has none, after its hook."""
        agent_id = program.agent_id
        if self._belongings.store(agent_id) or self._belongings.is_broken(agent_id):
            return
        self._belongings.put_store(agent_id, self.seed(agent_id))
        if "conversationStart" in program.manifest.hooks:
            is_new = not any(entry.role == "user" for entry in self._journal.entries)
            await self._greet(program, {"isNewConversation": is_new})
        await self._journal.save()

    async def close(self) -> None:
        """Ends every worker; returns when nothing of their calls goes on."""
        processes = list(self._processes.values())
        self._processes.clear()
        for process in processes:
            process.close()
        for process in processes:
            await process.ended()

    async def _greet(self, program: AgentProgram, event: dict[str, Any]) -> None:
        function = hook_function("conversationStart")
        with suppress(AgentError):
            if await self.exports(program, function):
                with self._reported(program, function):
                    await self._run(program, function, written([event]), Invocation("hook"))

    async def _run(
        self,
        program: AgentProgram,
        function: str,
        arguments: Written,
        invocation: Invocation,
        verbatim: bool = False,
        deadline: float | None = None,
    ) -> str | None:
        agent_id = program.agent_id
        self._refuse(agent_id, invocation)
        async with self._locks.setdefault(agent_id, asyncio.Lock()):
            returned = await self._process(program).call(
                function,
                arguments,
                verbatim=verbatim,
                context=self._context(program, invocation),
                store=self._store(agent_id),
                serve=partial(self._bridge.request, program, invocation),
                deadline=deadline,
            )
            if returned.store is not None:
                self._belongings.put_store(agent_id, returned.store)
            owner = self._belongings.owner(agent_id)
            returns = returned.value, returned.duration
            self._room.log.call(owner, program, function, arguments, *returns)
            return returned.value

    @contextmanager
    def _reported(self, program: AgentProgram, function: str, emit: bool = True) -> Iterator[None]:
        """Notes a failure in the agent's activity log; who listens hears of it, and of its end."""
        had_failed = self.worker_state(program.agent_id) == "failed"
        try:
            yield
            if had_failed:
                self._room.events.change(AgentsChanged())
        except AgentError as error:
            text, stack = f"{function}: {error.message}", error.detail.get("stack")
            owner, facts = self._belongings.owner(program.agent_id), {}
            if stack:
                facts["stack"] = plain(stack)
            self._room.log.add(owner, program, "error", plain(text), **facts)
            if emit:
                self._room.agent_failed(error)
            raise

    def _refuse(self, agent_id: str, invocation: Invocation) -> None:
        if agent_id in invocation.chain:
            raise AgentError(
                "agent_calls_itself",
                f"Agent {agent_id!r} cannot be called while it answers the call that led here.",
                agentId=agent_id,
            )
        if self._belongings.is_broken(agent_id):
            raise AgentError(
                "store_unreadable",
                f"The stored data of agent {agent_id!r} in this conversation is damaged, so the "
                "agent is not called. It works again in a new conversation.",
                agentId=agent_id,
            )

    def _store_text(self, program: AgentProgram) -> str:
        agent_id = program.agent_id
        return "" if self._belongings.is_broken(agent_id) else self._store(agent_id).text

    def _process(self, program: AgentProgram) -> AgentProcess:
        process = self._processes.get(program.agent_id)
        if process is None:
            process = AgentProcess(
                program, self._room.surroundings.sandbox, self._room.clock, self._bridge.notice
            )
            self._processes[program.agent_id] = process
        return process

    def _store(self, agent_id: str) -> StoreText:
        return self._belongings.store(agent_id) or self.seed(agent_id)

    def seed(self, agent_id: str) -> StoreText:
        """The store an agent starts a conversation with."""
        return StoreText(1, dumps(self._package.default_stores.get(agent_id, {})))

    def _context(self, program: AgentProgram, invocation: Invocation) -> dict[str, Any]:
        context: dict[str, Any] = {
            "invokedBy": invocation.invoked_by,
            "conversationLength": len(self._journal.entries),
            "characterName": self._package.name,
            "agentId": program.agent_id,
            "config": dict(program.config),
        }
        if invocation.number is not None:
            context["toolCallId"] = invocation.number
        return context
