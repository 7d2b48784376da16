"""Looking names up for visitors: a name that takes for ever keeps only its own client waiting.

Invariants: a look-up runs in a thread of its own, never in those that the rest of the server uses
(the model service's name is looked up there); a client has ``EACH`` of them at most, and has its
place back only when the thread has ended, for a thread cannot be stopped; nothing waits for them
when the process ends.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from personae_server.errors import HttpError
from personae_server.guard import Address
from personae_server.turns import Turns

EACH, TOTAL, LINE = 4, 64, 64


class Resolver:
    """The system's look-up (``getaddrinfo``), with places."""

    def __init__(self) -> None:
        self._turns = Turns(EACH, TOTAL, LINE)

    async def look_up(self, host: str, port: int, client: str) -> Sequence[Address]:
        """Every address of ``host``. Raises HttpError: host_not_found, too_many_streams."""
        try:
            answers = await self._asked(host, port, client)
            found = [ipaddress.ip_address(answer[4][0]) for answer in answers]
        except (OSError, ValueError) as error:
            raise HttpError(502, "host_not_found", f"No host is known as {host}.") from error
        return list(dict.fromkeys(found))

    async def _asked(self, host: str, port: int, client: str) -> Any:
        await self._turns.begin(client)
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def ended(result: Any) -> None:
            self._turns.end(client)
            if answer.done():  # whoever asked has left
                return
            if isinstance(result, BaseException):
                answer.set_exception(result)
            else:
                answer.set_result(result)

        def ask() -> None:
            result = _look_up(host, port)
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(ended, result)

        try:
            threading.Thread(target=ask, name="look-up", daemon=True).start()
        except RuntimeError:
            self._turns.end(client)
            raise
        return await answer


def _look_up(host: str, port: int) -> Any:
    """The system's answer, or the error instead of it."""
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        return error
