"""A model service for the relay's tests: OpenAI-compatible, scripted, and it can misbehave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

KEY = "sk-operator-0123456789abcdef"
USAGE = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
TOOL_CALL = {
    "index": 0,
    "id": "call_1",
    "type": "function",
    "function": {"name": "roll", "arguments": '{"sides": 20}'},
}


class ModelService:
    """What it was asked is in ``requests``; ``cancelled`` counts streams whose reader left.

    The model named in a request decides what happens: ``good`` answers, ``tools`` calls a tool,
    ``slow`` waits for ``go`` after the first event, ``silent`` never answers; other behaviours are
    spelled out in ``answer``.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.cancelled = asyncio.Event()
        self.waiting = asyncio.Event()
        self.go = asyncio.Event()
        self.lists_models = True
        self.app = Starlette(
            routes=[
                Route("/v1/chat/completions", self.answer, methods=["POST"]),
                Route("/v1/models", self.models),
            ]
        )

    async def models(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        if not self.lists_models:
            return self._error(503)
        names = ("good", "tools", "secret-model")
        return JSONResponse({"object": "list", "data": [{"id": name} for name in names]})

    async def answer(self, request: Request) -> Response:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        model = body["model"]
        if model == "silent":
            return await self._until_gone(request)
        if model == "no-usage" and "stream_options" in body:
            error = {"message": "Unknown field: stream_options", "type": "invalid", "param": "x"}
            return JSONResponse({"error": error}, 400)
        if model.startswith("status-"):
            return self._error(int(model.removeprefix("status-")))
        if model == "html":
            return Response("<h1>Oops</h1>", 503, media_type="text/html")
        if model == "no-json":
            return Response("hello", media_type="text/plain")
        if body.get("stream"):
            return StreamingResponse(self._stream(body), media_type="text/event-stream")
        return JSONResponse(self._reply(model))

    def _error(self, status: int) -> Response:
        message = f"Bad key {KEY} at http://10.0.0.9:4000/ Traceback (most recent call last): x"
        error = {"message": message, "code": "odd_request", "type": "invalid_request_error"}
        return JSONResponse({"error": error}, status, {"Retry-After": "7"})

    def _reply(self, model: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "Hello there"}
        if model == "tools":
            message = {"role": "assistant", "content": None, "tool_calls": [TOOL_CALL]}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": "1", "object": "chat.completion", "created": 1, "model": model,
                "choices": [choice], "usage": USAGE}  # fmt: skip

    async def _stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        model = body["model"]
        try:
            yield b": keep-alive\n\n"
            deltas: list[dict[str, Any]] = [
                {"role": "assistant", "content": "Hel"},
                {"content": "lo there"},
            ]
            if model == "tools":
                deltas = [{"tool_calls": [TOOL_CALL]}]
            for number, delta in enumerate(deltas):
                yield self._chunk(model, [{"index": 0, "delta": delta, "finish_reason": None}])
                if number == 0:
                    await self._misbehave(model)
            yield self._chunk(model, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
            if body.get("stream_options", {}).get("include_usage"):
                yield self._chunk(model, [], USAGE)
            yield b"data: [DONE]\n\n"
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    async def _misbehave(self, model: str) -> None:
        if model == "slow":
            self.waiting.set()
            await self.go.wait()
        if model == "breaks":
            raise ConnectionResetError

    def _chunk(self, model: str, choices: list[Any], usage: Any = None) -> bytes:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model,
                 "choices": choices, "usage": usage}  # fmt: skip
        return b"data: " + json.dumps(chunk).encode() + b"\n\n"

    async def _until_gone(self, request: Request) -> Response:
        self.waiting.set()
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.cancelled.set()
        return Response()
