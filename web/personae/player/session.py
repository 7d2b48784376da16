"""One open conversation with everything that works on it.

A session ends when another conversation is opened; its workers end with it, so that nothing an
agent keeps in memory reaches another conversation (reference: Persistent storage).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from personae.changes import AnsweringChanged, State, TurnChanged, TurnState
from personae.conversation.entries import Entry
from personae.errors import PersonaeError, UsageError
from personae.events import Events
from personae.llm.models import Models
from personae.llm.request.encoded import Part
from personae.package.model import AgentProgram, Package, Tool
from personae.player.environment import Environment
from personae.settings import Settings
from personae.storage.agent_log import AgentLog
from personae.storage.journal import Journal
from personae.storage.leases import Lease
from personae.tools.dispatch import Planned
from personae.tools.registry import Registry
from personae.turn.agents import Agents
from personae.turn.bridge import StudioBridge, parsed_store
from personae.turn.caps import Meter
from personae.turn.earlier_turns import EarlierTurns
from personae.turn.hooks import Hooks
from personae.turn.model_calls import ModelCalls
from personae.turn.preload import Preload
from personae.turn.prompt import assemble, current_turn
from personae.turn.stop import Stopper


@dataclass(frozen=True, slots=True)
class Services:
    """What all sessions of a player share."""

    package: Package
    registry: Registry
    environment: Environment
    events: Events
    models: Models
    settings: Callable[[], Settings]


@dataclass(slots=True)
class Response:
    """A response that is under way, from the moment it is asked for until it was delivered."""

    stopped: bool = False
    """Whether the user has stopped it, be it before its turn came."""


class Session:
    def __init__(self, services: Services, journal: Journal, lease: Lease | None) -> None:
        self.package = services.package
        self.registry = services.registry
        self.environment = services.environment
        self.events = services.events
        self.models = services.models
        self.settings = services.settings
        self.journal = journal
        self.lease = lease
        """None: another tab holds the conversation, this one only reads it."""
        self.left = False
        """Whether the user has gone to another conversation."""
        self.gate = asyncio.Lock()
        """Held by whatever changes the conversation; what comes next waits for it."""
        self.opening: asyncio.Future[None] | None = None
        """Done when the agents have started; None for one that is only read."""
        self.reading: asyncio.Future[None] | None = None
        """Done when the older entries of a long conversation are there; None for a short one."""
        self.response: Response | None = None
        self.turn = TurnState()
        self.meter = Meter(journal, lambda: self.settings().limits)
        self.log = AgentLog(journal, self.environment.clock, self.events.change)
        self._earlier = EarlierTurns()
        self._stopper = Stopper()
        self._ended = False
        self._wire()

    def _wire(self) -> None:
        environment, journal, log = self.environment, self.journal, self.log
        self.agents = Agents(
            self.package,
            journal,
            log,
            environment.sandbox,
            environment.clock,
            StudioBridge(self),
            self._failed,
        )
        self.hooks = Hooks(self.registry, self.agents, journal)
        self.preload = Preload(self.registry, self.agents, journal)
        self.model_calls = ModelCalls(
            self.registry,
            self.agents,
            journal,
            self.meter,
            self.models,
            environment.install,
            self.tool_called,
        )

    @property
    def answering(self) -> bool:
        return self.response is not None

    @property
    def read_only(self) -> bool:
        return self.lease is None

    def check_writable(self) -> None:
        """Raises UsageError ``read_only``."""
        if self.read_only:
            raise UsageError(
                "read_only",
                "This conversation is open in another tab. Close it there, or start a new one.",
            )

    async def settle(self) -> None:
        """Brings the agents up to date: new stores, edits they have not heard of, preload."""
        for program in self.registry.hooked("conversationStart", private=True):
            if program.agent_id not in self.journal.stores:
                self.show("preload", program.agent_id)
                await self.agents.begin(program)
        if self.journal.head.edit is not None:
            self.show("hooks")
            if await self.hooks.after_user_edit():
                self.preload.stale = True
        if self.preload.stale:
            if self.preload.programs:
                self.show("preload")
            await self.preload.rebuild()

    def messages(self) -> list[Part]:
        """The messages of the next request."""
        return assemble(self.package, self.preload.texts, self.journal.entries, self._earlier)

    async def keep_up(self) -> None:
        """Gets a long history ready to be sent, without holding the page up."""
        entries, pause = self.journal.entries, self.environment.clock.sleep
        await self._earlier.keep_up(entries, current_turn(entries), lambda: pause(0))

    def tools(self) -> list[Tool]:
        return self.registry.offered()

    def store(self, program: AgentProgram) -> Any:
        """A copy of an agent's store; what it starts with when it has not been called yet.

        Raises BridgeError ``store_unreadable``.
        """
        agent_id = program.agent_id
        if agent_id in self.journal.broken_stores:
            return parsed_store("")
        return parsed_store(self.journal.stores.get(agent_id, self.agents.seed(agent_id)).text)

    def tool_called(self, planned: Planned, content: str) -> None:
        """Tells consumers that an agent answered a tool call."""
        if planned.program is not None:
            called = {"agentId": planned.program.agent_id, "toolName": planned.call.name}
            self.events.emit("toolCall", {**called, "result": content})

    def audit(self, text: str, agent_id: str | None = None) -> Entry:
        """Adds an audit entry; saved with what is saved next."""
        return self.journal.append("log", text, agent_id=agent_id)

    def show(self, state: State, detail: str = "", seconds: float | None = None) -> None:
        """Tells the app what the turn is doing."""
        turn = self.turn
        if state != turn.state or detail != turn.detail or seconds != turn.seconds:
            self.turn = TurnState(state, detail, seconds)
            self.events.change(TurnChanged(self.turn))

    def begin_response(self) -> Response:
        self.response = Response()
        self.events.change(AnsweringChanged(True))
        return self.response

    def end_response(self) -> None:
        self.response = None
        self.events.change(AnsweringChanged(False))

    def renew_stopper(self) -> Stopper:
        """The one that ``stop`` reaches from now on."""
        self._stopper = Stopper()
        if self._ended or (self.response is not None and self.response.stopped):
            self._stopper.stop()
        return self._stopper

    def stop(self) -> None:
        if self.response is not None:
            self.response.stopped = True
        self._stopper.stop()

    def leave(self) -> None:
        """The user goes elsewhere: what runs is stopped, its hooks still run."""
        self.left = True
        self.journal.fall_silent()
        self.stop()

    def end(self) -> None:
        """Nothing of this conversation runs any more, hooks neither."""
        self._ended = True
        self.leave()

    async def close(self) -> None:
        """Saves and ends the workers; whoever opened it gives the lock back."""
        self.agents.close()
        if not self.read_only:
            await self.journal.save()

    def defect(self, error: Exception) -> None:
        """An error nobody foresaw: on the console, for a bug report."""
        logging.getLogger("personae").error("unexpected error", exc_info=error)

    def _failed(self, error: PersonaeError) -> None:
        """An agent failed beside the conversation, which goes on."""
        self.events.emit("error", error)
