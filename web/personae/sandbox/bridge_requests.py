"""Serves the bridge requests of one running call.

Invariants: every request is judged by ``api_check.py``; a request is answered once, and only
while the call it belongs to runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from personae.errors import PersonaeError
from personae.ports import Wire
from personae.protocol import limit
from personae.sandbox.api_check import checked_request
from personae.sandbox.channel import Channel, ProtocolViolation
from personae.written import written


class Serve(Protocol):
    """Answers what one call of an agent asks for through ``studio``; each call brings its own."""

    async def __call__(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """Answers ``studio.<method>`` with a JSON value, which may be written already.

        ``arguments`` are named and typed as ``protocol.json`` declares; absent optional ones are
        absent. Raises BridgeError to refuse.
        """
        ...


class BridgeRequests:
    """The open requests of one process."""

    def __init__(self, apis: Collection[str]) -> None:
        self._apis = apis
        self._serve: Serve | None = None
        self._open: dict[int, asyncio.Task[None]] = {}
        self._dropped: set[asyncio.Task[None]] = set()

    def belong_to(self, serve: Serve) -> None:
        """A call begins; ``serve`` answers what comes in until it ends."""
        self._serve = serve

    def accept(self, fields: Mapping[str, Any], channel: Channel, wire: Wire) -> None:
        """Begins to answer a request. Raises ProtocolViolation for one no honest worker makes."""
        number: int = fields["request"]
        if number in self._open:
            raise ProtocolViolation(f"request {number} twice")
        if len(self._open) >= limit("openRequests"):
            raise ProtocolViolation("a flood of requests")
        if self._serve is None:
            raise ProtocolViolation("a request outside a call")
        answer = self._answer(self._serve, number, fields, channel, wire)
        self._open[number] = asyncio.ensure_future(answer)

    def cancel(self) -> None:
        """Drops what is open: its call has ended."""
        self._serve = None
        if not self._open:
            return
        for task in self._open.values():
            task.cancel()
            self._dropped.add(task)
            task.add_done_callback(self._dropped.discard)
        self._open.clear()

    async def ended(self) -> None:
        """Returns when nothing works on what was dropped any more."""
        if self._dropped:
            await asyncio.wait(self._dropped)

    async def _answer(
        self, serve: Serve, number: int, fields: Mapping[str, Any], channel: Channel, wire: Wire
    ) -> None:
        method = fields["method"]
        try:
            arguments = checked_request(self._apis, method, fields["arguments"])
            value = await serve(method, arguments)
            reply = channel.outgoing("reply", written(value).text, request=number)
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
