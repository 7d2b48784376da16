"""What agents reach through ``studio`` (reference: The studio bridge object).

The process has checked the @api line and the arguments' types before a request arrives here.
Invariant: every failure is a BridgeError, so that it reaches the agent and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from personae.conversation import studio_history
from personae.errors import BridgeError, ModelError, PersonaeError
from personae.llm.provider.faults import for_strangers
from personae.package.model import AgentProgram, Package
from personae.storage.belongings import Belongings
from personae.tools.grants import find_granted, granted
from personae.tools.invocation import Invocation
from personae.tools.registry import Registry
from personae.turn.room import Room
from personae.turn.studio.notices import Notices
from personae.turn.studio.web_fetch import fetch_page
from personae.unicode import well_formed
from personae.written import Written

Program = AgentProgram
Arguments = Mapping[str, Any]
Handler = Callable[[Program, Invocation, Arguments], Awaitable[Any]]


class StudioBridge:
    """``agents.Bridge`` for one seat."""

    def __init__(
        self,
        room: Room,
        belongings: Belongings,
        package: Package,
        registry: Registry,
        store: Callable[[AgentProgram], Written],
        call_model: Handler,
    ) -> None:
        self._room = room
        self._package = package
        self._registry = registry
        self._store = store
        self.notice = Notices(room, belongings, package.name).take
        """See ``process.Notice``."""
        self._handlers: dict[str, Handler] = {
            "history.search": self._search,
            "history.range": self._range,
            "context.readFile": self._read_file,
            "callModel": call_model,
            "grants.readStore": self._read_store,
            "web.fetch": self._web_fetch,
        }

    async def request(
        self,
        program: AgentProgram,
        invocation: Invocation,
        method: str,
        arguments: Mapping[str, Any],
    ) -> Any:
        """Answers ``studio.<method>``, see ``bridge_requests.Serve``. Raises BridgeError."""
        handler = self._handlers.get(method)
        if handler is None:
            raise BridgeError("unknown_method", f"This player has no studio.{method}.")
        try:
            return await handler(program, invocation, arguments)
        except BridgeError:
            raise
        except ModelError as error:
            raise BridgeError(error.code, for_strangers(error)) from error
        except PersonaeError as error:
            raise BridgeError(error.code, error.message) from error
        except Exception as error:
            self._room.defect(error)
            raise BridgeError("bridge_failed", f"studio.{method} failed.") from error

    async def _search(self, _program: Program, _why: Invocation, arguments: Arguments) -> Any:
        return studio_history.search(self._room.journal.entries, arguments["query"])

    async def _range(self, _program: Program, _why: Invocation, arguments: Arguments) -> Any:
        entries = self._room.journal.entries
        return studio_history.span(entries, arguments["start"], arguments["end"])

    async def _read_file(self, _program: Program, _why: Invocation, arguments: Arguments) -> Any:
        text = self._package.context.get(arguments["name"])
        return None if text is None else well_formed(text)

    async def _read_store(self, program: Program, _why: Invocation, arguments: Arguments) -> Any:
        registry, ref = self._registry, arguments["ref"]
        if not granted(program, registry):
            raise BridgeError("no_grants", f"Agent {program.agent_id!r} has no grants.")
        owner = find_granted(program, registry, ref)
        if owner is None:
            raise BridgeError("not_granted", f"No agent granted here matches {ref!r}.")
        return self._store(owner)

    async def _web_fetch(self, _program: Program, _why: Invocation, arguments: Arguments) -> Any:
        surroundings = self._room.surroundings
        reader, allowed = surroundings.web_reader, surroundings.settings().web_access
        return await fetch_page(reader, allowed, arguments["url"], arguments.get("options"))
