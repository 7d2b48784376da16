"""Requests whose end two servers could see in different places are refused, the connection closed.

The one endpoint that takes a body takes JSON, whose length every client knows: a request says its
length or has no body. What comes in chunks could say a second length (the front door of request
smuggling), and a body in pieces of a byte is work for the parser out of all proportion.
"""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import ASGIApp, Receive, Scope, Send

from personae_server import metrics
from personae_server.errors import error_response

_CLOSE = {"Connection": "close"}


def is_chunked(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name == b"transfer-encoding" for name, _ in headers)


class Framing:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_chunked(scope["headers"]):
            return await self.app(scope, receive, send)
        if any(name == b"content-length" for name, _ in scope["headers"]):
            refusal = 400, "two_lengths", "A request has one length: it comes chunked and with one."
        else:
            refusal = 411, "length_needed", "Send the request with its Content-Length."
        metrics.ERRORS.labels(metrics.route_of(scope), refusal[1]).inc()
        return await error_response(*refusal, _CLOSE)(scope, receive, send)
