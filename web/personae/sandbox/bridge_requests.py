"""Serves the bridge requests of one running call.

Invariants: every request passes the gate in ``studio.py``; a request is answered once, and only
while the call it belongs to runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from personae.errors import PersonaeError
from personae.package.model import AgentProgram
from personae.ports import Wire
from personae.sandbox.channel import Channel, ProtocolViolation, limit
from personae.sandbox.request_check import checked_request


class Bridge(Protocol):
    """What agents reach through ``studio``; implemented by the player."""

    async def request(
        self,
        program: AgentProgram,
        method: str,
        arguments: Mapping[str, Any],
        context: Mapping[str, Any],
    ) -> Any:
        """Answers ``studio.<method>`` with a JSON value.

        ``arguments`` are named and typed as ``protocol.json`` declares; absent optional ones are
        absent. ``context`` is the running call's. Raises BridgeError to refuse.
        """
        ...

    def notice(self, program: AgentProgram, kind: str, text: str) -> None:
        """``kind`` is toast, log or console; error for what the player finds wrong with it."""
        ...


class Requests:
    """The open requests of one process; ``context`` is the running call's."""

    def __init__(self, program: AgentProgram, bridge: Bridge) -> None:
        self.context: Mapping[str, Any] = {}
        self._program = program
        self._bridge = bridge
        self._open: dict[int, asyncio.Task[None]] = {}

    def serve(self, fields: Mapping[str, Any], channel: Channel, wire: Wire) -> None:
        """Begins to answer a request. Raises ProtocolViolation for one no honest worker makes."""
        number: int = fields["request"]
        if number in self._open:
            raise ProtocolViolation(f"request {number} twice")
        if len(self._open) >= limit("openRequests"):
            raise ProtocolViolation("a flood of requests")
        self._open[number] = asyncio.ensure_future(self._answer(number, fields, channel, wire))

    def cancel(self) -> None:
        """Drops what is open: its call has ended."""
        if not self._open:
            return
        for task in self._open.values():
            task.cancel()
        self._open.clear()

    async def _answer(
        self, number: int, fields: Mapping[str, Any], channel: Channel, wire: Wire
    ) -> None:
        method, apis = fields["method"], self._program.manifest.apis
        try:
            arguments = checked_request(apis, method, fields["arguments"])
            value = await self._bridge.request(self._program, method, arguments, self.context)
            reply = channel.outgoing("reply", request=number, value=value)
        except PersonaeError as error:
            reply = _refusal(channel, number, error.code, error.message)
        except Exception as error:
            # A defect of ours: the agent gets an answer, the browser's console the traceback.
            reply = _refusal(channel, number, "player_failed", "The player failed to answer.")
            context = {"message": f"studio.{method} failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
        del self._open[number]
        wire.post(reply)


def _refusal(channel: Channel, number: int, code: str, message: str) -> str:
    return channel.outgoing("refusal", request=number, code=code, message=message)
