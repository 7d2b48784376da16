"""Calls into agents: one running process per instance, its store, its context.

Reference: Exported functions; The context object; Persistent storage; Hook events,
conversationStart. Invariants: an agent runs one call at a time; a call that fails leaves its store
as it was; an agent that is already answering is refused when its own call leads back to it; the
first call of an agent in a conversation comes after its conversationStart hook. The new store is
staged, and stored with what the caller saves next.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from personae.errors import AgentError, PersonaeError
from personae.package.model import AgentProgram, Package
from personae.ports import Clock, Sandbox
from personae.sandbox.process import AgentProcess, Bridge, StoreText
from personae.storage.agent_log import AgentLog
from personae.storage.journal import Journal
from personae.storage.records import dumps

InvokedBy = Literal["model", "direct", "preload", "hook"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """Why an agent is called."""

    invoked_by: InvokedBy
    number: int | None = None
    """The toolCallId; only for tool calls that land in the history."""
    chain: tuple[str, ...] = ()
    """Ids of the agents whose own calls led here."""
    note_granted: Callable[[Any], None] | None = None
    """Records a granted call beside the tool call that is being answered."""


class Agents:
    def __init__(
        self,
        package: Package,
        journal: Journal,
        log: AgentLog,
        sandbox: Sandbox,
        clock: Clock,
        bridge: Bridge,
        failed: Callable[[PersonaeError], None],
    ) -> None:
        self._package = package
        self._journal = journal
        self._log = log
        self._sandbox = sandbox
        self._clock = clock
        self._bridge = bridge
        self._failed = failed
        self._processes: dict[str, AgentProcess] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._active: dict[str, Invocation] = {}

    def active(self, agent_id: str) -> Invocation:
        """The call the agent is answering now. Raises AgentError when there is none."""
        if agent_id not in self._active:
            raise AgentError("not_called", f"Agent {agent_id!r} is not answering a call.")
        return self._active[agent_id]

    def is_running(self, agent_id: str) -> bool:
        return agent_id in self._active

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
        arguments: Sequence[Any],
        invocation: Invocation,
        *,
        verbatim: bool = False,
        deadline: float | None = None,
    ) -> str | None:
        """What the function returns. Raises AgentError; the caller saves the journal.

        ``deadline`` in milliseconds lowers the agent's own.
        """
        await self.begin(program)
        # Who runs a command hears of its failure; of any other, only the events tell.
        with self._reported(program, function, emit=invocation.invoked_by != "direct"):
            return await self._run(program, function, arguments, invocation, verbatim, deadline)

    async def begin(self, program: AgentProgram) -> None:
        """Creates the agent's store for this conversation if it has none, after its hook."""
        agent_id = program.agent_id
        if agent_id in self._journal.stores or agent_id in self._journal.broken_stores:
            return
        self._journal.put_store(agent_id, self.seed(agent_id))
        if "conversationStart" in program.manifest.hooks:
            is_new = not any(entry.role == "user" for entry in self._journal.entries)
            await self._greet(program, {"isNewConversation": is_new})
        await self._journal.save()

    def close(self) -> None:
        """Ends every worker."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()

    async def _greet(self, program: AgentProgram, event: dict[str, Any]) -> None:
        function = "onConversationStart"
        with suppress(AgentError):
            if await self.exports(program, function):
                with self._reported(program, function):
                    await self._run(program, function, [event], Invocation("hook"))

    async def _run(
        self,
        program: AgentProgram,
        function: str,
        arguments: Sequence[Any],
        invocation: Invocation,
        verbatim: bool = False,
        deadline: float | None = None,
    ) -> str | None:
        agent_id = program.agent_id
        self._refuse(agent_id, invocation)
        async with self._locks.setdefault(agent_id, asyncio.Lock()):
            self._active[agent_id] = invocation
            try:
                outcome = await self._process(program).call(
                    function,
                    list(arguments),
                    verbatim=verbatim,
                    context=self._context(program, invocation),
                    store=self._journal.stores[agent_id],
                    deadline=deadline,
                )
            finally:
                del self._active[agent_id]
            if outcome.store is not None:
                self._journal.put_store(agent_id, outcome.store)
            self._log.call(program, function, arguments, outcome.value, outcome.duration)
            return outcome.value

    @contextmanager
    def _reported(self, program: AgentProgram, function: str, emit: bool = True) -> Iterator[None]:
        """Notes a failure in the agent's log, for its author, and tells who listens."""
        try:
            yield
        except AgentError as error:
            text = f"{function}: {error.message}"
            self._log.add(program, "error", text, stack=error.detail.get("stack"))
            if emit:
                self._failed(error)
            raise

    def _refuse(self, agent_id: str, invocation: Invocation) -> None:
        if agent_id in invocation.chain:
            raise AgentError(
                "agent_calls_itself",
                f"Agent {agent_id!r} cannot be called while it answers the call that led here.",
                agentId=agent_id,
            )
        if agent_id in self._journal.broken_stores:
            raise AgentError(
                "store_unreadable",
                f"The stored data of agent {agent_id!r} in this conversation is damaged, so the "
                "agent is not called. It works again in a new conversation.",
                agentId=agent_id,
            )

    def _process(self, program: AgentProgram) -> AgentProcess:
        process = self._processes.get(program.agent_id)
        if process is None:
            process = AgentProcess(program, self._sandbox, self._clock, self._bridge)
            self._processes[program.agent_id] = process
        return process

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
