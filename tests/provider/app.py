"""The scripted provider as an ASGI application."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.provider.turns import Pause, Reset, Stall, Step, Turn, error, json_body

Answer = Turn | Callable[[dict[str, Any]], Turn]
"""A turn, or a function from the request's body to one."""


@dataclass
class Recorded:
    """One request as it came in, and how its response ended."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    """Parsed JSON; None when there was none."""
    ended: str = "open"
    """``complete``, ``left`` (the client went away) or ``reset``."""


@dataclass
class State:
    """What the server's thread and the test share; single operations on it are atomic."""

    script: list[Answer] = field(default_factory=list)
    default: Answer | None = None
    models: list[str] = field(default_factory=lambda: ["scripted", "scripted-large"])
    files: dict[str, Turn] = field(default_factory=dict)
    cors: bool = True
    no_cors: set[str] = field(default_factory=set)
    requests: list[Recorded] = field(default_factory=list)
    released: bool = False


def make_app(state: State) -> Starlette:
    async def handle(request: Request) -> Response:
        if request.method == "OPTIONS":
            allowed = _cors(state, request)
            return Response(status_code=204 if allowed else 405, headers=allowed)
        recorded = await _record(request)
        state.requests.append(recorded)
        turn = _turn(state, recorded)
        headers = {**turn.headers, **_cors(state, request)}
        body = _send(turn.steps, request, recorded, state)
        return StreamingResponse(body, turn.status, headers)

    methods = ["GET", "POST", "OPTIONS", "HEAD"]
    return Starlette(routes=[Route("/{path:path}", handle, methods=methods)])


async def _record(request: Request) -> Recorded:
    raw = await request.body()
    try:
        body = json.loads(raw) if raw else None
    except ValueError:
        body = raw.decode("utf-8", "replace")
    return Recorded(request.method, request.url.path, dict(request.headers), body)


def _turn(state: State, recorded: Recorded) -> Turn:
    if recorded.path in state.files:
        return state.files[recorded.path]
    if recorded.path.endswith("/chat/completions") and recorded.method == "POST":
        return _next_answer(state, recorded.body)
    if recorded.path.endswith("/models"):
        return json_body({"object": "list", "data": [{"id": name} for name in state.models]})
    return error(404, f"nothing at {recorded.path}")


def _next_answer(state: State, body: Any) -> Turn:
    answer = state.script.pop(0) if state.script else state.default
    if answer is None:
        return error(400, "the script of this provider has no further turn")
    return answer if isinstance(answer, Turn) else answer(body)


def _cors(state: State, request: Request) -> dict[str, str]:
    if not state.cors or request.url.path in state.no_cors:
        return {}
    return {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, POST, OPTIONS",
        "access-control-allow-headers": "authorization, content-type, *",
        "access-control-expose-headers": "retry-after",
    }


async def _send(
    steps: Any, request: Request, recorded: Recorded, state: State
) -> AsyncIterator[bytes]:
    try:
        for step in steps:
            data = await _perform(step, request, state)
            if data:
                yield data
        recorded.ended = "complete"
    except ConnectionResetError:
        recorded.ended = "reset"
        raise
    finally:
        if recorded.ended == "open":
            recorded.ended = "left"


async def _perform(step: Step, request: Request, state: State) -> bytes:
    if isinstance(step, Reset):
        await asyncio.sleep(0.02)  # so that what was sent before arrives
        raise ConnectionResetError("as the script says")
    if isinstance(step, Pause):
        await asyncio.sleep(step.seconds)
        return b""
    if isinstance(step, Stall):
        while not state.released:  # noqa: ASYNC110 (another thread sets it)
            await asyncio.sleep(0.01)
        return b""
    return step
