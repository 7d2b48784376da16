"""What agents reach through ``studio`` (reference: The studio bridge object).

The process has checked the @api line and the arguments' types before a request arrives here.
Invariant: every failure is a BridgeError, so that it reaches the agent and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from personae.bounded_json import MAX_STORE_DEPTH, load_json
from personae.conversation import studio_history as indices
from personae.errors import BridgeError, PersonaeError
from personae.package.model import AgentProgram
from personae.tools.grants import find_granted, granted
from personae.turn.streaming import SAVE_AFTER, Later
from personae.turn.web_access import fetch_page
from personae.unicode import well_formed

if TYPE_CHECKING:
    from personae.player.session import Session

Handler = Callable[[AgentProgram, Mapping[str, Any]], Awaitable[Any]]


class StudioBridge:
    """process.Bridge for one open conversation."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._save = Later(session.environment.clock, SAVE_AFTER, session.journal.save)
        self._handlers: dict[str, Handler] = {
            "history.search": self._search,
            "history.range": self._range,
            "context.readFile": self._read_file,
            "callModel": self._call_model,
            "grants.readStore": self._read_store,
            "web.fetch": self._web_fetch,
        }

    async def request(
        self,
        program: AgentProgram,
        method: str,
        arguments: Mapping[str, Any],
        context: Mapping[str, Any],
    ) -> Any:
        """Answers ``studio.<method>`` with a JSON value. Raises BridgeError."""
        handler = self._handlers.get(method)
        if handler is None:
            raise BridgeError("unknown_method", f"This player has no studio.{method}.")
        try:
            return await handler(program, arguments)
        except BridgeError:
            raise
        except PersonaeError as error:
            raise BridgeError(error.code, error.message) from error
        except Exception as error:
            self._session.defect(error)
            raise BridgeError("bridge_failed", f"studio.{method} failed: {error!r}") from error

    def notice(self, program: AgentProgram, kind: str, text: str) -> None:
        """``kind``: toast, log (an audit entry of the conversation), console or error."""
        session = self._session
        if kind == "toast":
            session.events.emit("agentToast", text)
        elif kind == "log":
            session.journal.append("log", text, agent_id=program.agent_id)
            session.events.emit("agentLog", text)
            self._save.poke()  # most often the call's end is sooner
        else:
            session.log.add(program, kind, text)

    async def _search(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        return indices.search(self._session.journal.entries, arguments["query"])

    async def _range(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        entries = self._session.journal.entries
        return indices.span(entries, arguments["start"], arguments["end"])

    async def _read_file(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        text = self._session.package.context.get(arguments["name"])
        return None if text is None else well_formed(text)

    async def _call_model(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        invocation = self._session.agents.active(program.agent_id)
        return await self._session.model_calls.call(program, invocation, arguments)

    async def _read_store(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        registry, ref = self._session.registry, arguments["ref"]
        if not granted(program, registry):
            raise BridgeError("no_grants", f"Agent {program.agent_id!r} has no grants.")
        owner = find_granted(program, registry, ref)
        if owner is None:
            raise BridgeError("not_granted", f"No agent granted here matches {ref!r}.")
        return self._session.store(owner)

    async def _web_fetch(self, program: AgentProgram, arguments: Mapping[str, Any]) -> Any:
        session = self._session
        reader, allowed = session.environment.web_reader, session.settings().web_access
        return await fetch_page(reader, allowed, arguments["url"], arguments.get("options"))


def parsed_store(text: str) -> Any:
    """A store as a JSON value. Raises BridgeError ``store_unreadable``."""
    try:
        return load_json(text, most=MAX_STORE_DEPTH)
    except ValueError as error:
        raise BridgeError("store_unreadable", "The agent's stored data is damaged.") from error
