"""Errors as JSON: every refusal of this server has a stable code and tells what to do.

The body is ``{"error": {"code": str, "message": str}}``, and of a model service's refusal its own
``type`` and ``param``. Messages name what the client sent,
never an address the server resolved, a key, or a traceback.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from personae.errors import PersonaeError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from personae_server import metrics

log = logging.getLogger(__name__)


class HttpError(PersonaeError):
    """A request that is answered with ``status`` and this error as JSON."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        **detail: Any,
    ) -> None:
        super().__init__(code, message, **detail)
        self.status = status
        self.headers = dict(headers or {})

    def __reduce__(self) -> Any:
        """Errors come back from helper processes as well."""
        return partial(HttpError, **self.detail), (
            self.status,
            self.code,
            self.message,
            self.headers,
        )


def error_response(
    status: int,
    code: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    **detail: Any,
) -> JSONResponse:
    body = {"error": {"code": code, "message": message, **detail}}
    return JSONResponse(body, status, {"Cache-Control": "no-store", **(headers or {})})


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HttpError)
    metrics.ERRORS.labels(metrics.route_of(request.scope), error.code).inc()
    return error_response(error.status, error.code, error.message, error.headers, **error.detail)


async def on_http_exception(request: Request, error: Exception) -> JSONResponse:
    """What Starlette itself refuses: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    message = f"{HTTPStatus(error.status_code).phrase}: {request.method} {request.scope['path']}"
    return error_response(error.status_code, code, message, error.headers)


class Crashes:
    """ASGI middleware: an unforeseen error is logged, and answered without its details."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        return await self._guarded(scope, receive, send)

    async def _guarded(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception:
            log.exception("request failed")
            if not started:
                message = "The server failed on this request; its log has the details."
                await error_response(500, "internal_error", message)(scope, receive, send)
