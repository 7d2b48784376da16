"""uvicorn's HTTP protocol with limits of its own, for a server that no other one stands before.

Invariants: a client has ``CONNECTIONS`` at most; a request's head is there ``HEAD_SECONDS`` after
it began, or the connection ends; so does one whose request was answered before its body had come
(``LINGER_SECONDS``), and one that takes nothing of an answer (``STALLED_CLIENT_SECONDS``). How
long a body may take that is wanted is the business of who wants it.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from personae_server.framing import is_chunked
from personae_server.rates import client_at
from personae_server.streaming import STALLED_CLIENT_SECONDS

CONNECTIONS = 512
HEAD_SECONDS = 20.0
LINGER_SECONDS = 5.0
PIECE = 4 * 1024
"""Bytes that are parsed before anything else is looked at."""

_open: Counter[str] = Counter()
"""Connections of each client, in this process."""


class LimitedProtocol(H11Protocol):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._counted: str | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._waits_for: object = None
        self._stall: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self._counts():
            transport.abort()
            return
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._limit(None, 0)
        self._end_stall()
        if self._counted is not None:
            _open[self._counted] -= 1
            if not _open[self._counted]:
                del _open[self._counted]

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            if self._refused():
                return
            super().data_received(data[start : start + PIECE])
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall = self.loop.call_later(STALLED_CLIENT_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end_stall()

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()

    def _counts(self) -> bool:
        """Takes a place of the client's; the operator's own proxies have as many as they like."""
        address = self.client[0] if self.client else None
        if _is_trusted(address, self.config.forwarded_allow_ips):
            return True
        client = client_at(address)
        if _open[client] >= CONNECTIONS:
            return False
        _open[client] += 1
        self._counted = client
        return True

    def _refused(self) -> bool:
        """Whether what still comes is of no interest: the connection is about to be closed."""
        if self.transport.is_closing():
            return True
        receiving = self.conn.their_state is h11.SEND_BODY
        return receiving and self.scope is not None and is_chunked(self.scope["headers"])

    def _watch(self) -> None:
        """Sets the limit of what is waited for now, once for each time."""
        theirs, answered = self.conn.their_state, self.conn.our_state is h11.DONE
        if self.transport.is_closing():
            self._limit(None, 0)
        elif theirs is h11.IDLE and self.timeout_keep_alive_task is None:
            self._limit(("head", self.cycle), HEAD_SECONDS)
        elif theirs is h11.SEND_BODY and answered:
            self._limit(("rest", self.cycle), LINGER_SECONDS)
        else:
            self._limit(None, 0)

    def _limit(self, waits_for: object, seconds: float) -> None:
        if waits_for == self._waits_for:
            return
        self._waits_for = waits_for
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if waits_for is not None:
            self._deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)


def _is_trusted(address: str | None, trusted: list[str] | str | None) -> bool:
    words = trusted.split(",") if isinstance(trusted, str) else trusted or []
    try:
        found = ipaddress.ip_address(address or "")
        return any(_holds(word, found) for word in words)
    except ValueError:
        return "*" in words


def _holds(word: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if word == "*":
        return True
    try:
        return address in ipaddress.ip_network(word.strip(), strict=False)
    except ValueError:  # a name; uvicorn compares it with what is no address
        return False
