"""``POST /v1/chat/completions``, ``GET /v1/models`` and one of them: the host's model access.

Invariants: the operator's key goes to the model service and nowhere else; a streamed event is
passed on the moment it is whole; a client that leaves ends the request upstream; every token
is counted against whoever asked, also when the answer breaks off (``usage.py`` has the rules);
only the fields of ``chat_fields.py`` are forwarded; no cookie of the service is kept.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx
from limits.aio.storage import Storage
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from personae_server import __version__, metrics, upstream_errors
from personae_server.chat_fields import chat_fields
from personae_server.chat_kinds import encoded
from personae_server.drain import Drain
from personae_server.errors import HttpError
from personae_server.fetch import trusted
from personae_server.proxy import refuse_cross_site
from personae_server.rates import Budget, Places, Rate
from personae_server.redaction import Redactor
from personae_server.relay_body import JSON, Asked, Bodies, is_offered
from personae_server.settings import Settings
from personae_server.signin import by_address, sign_in_with
from personae_server.sse import data_of, events
from personae_server.streaming import Chunks, send_chunks, send_start, while_connected
from personae_server.usage import Meter

MAX_REPLY = 16 * 2**20
SILENT_SECONDS = 300.0
"""How long a model may think without a byte."""
MODELS_SECONDS = 60.0
_STREAM_HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    # nginx holds streams back otherwise.
    "X-Accel-Buffering": "no",
}

_NOT_KEPT = {"Cache-Control": "no-store"}

log = logging.getLogger(__name__)


class Relay:
    """The two endpoints. Close it with ``close``."""

    def __init__(self, settings: Settings, store: Storage, drain: Drain) -> None:
        self.models = settings.relay_models
        self.key = settings.relay_key
        self.redactor = Redactor(self.key, urlsplit(settings.relay_url).hostname or "")
        self.drain = drain
        self.rate = Rate(store, "relay", settings.relay_rate)
        self.budget = Budget(store, "relay_tokens", settings.relay_tokens)
        self.places = Places(settings.relay_streams)
        self.bodies = Bodies(chat_fields(settings.relay_fields), tuple(self.models))
        hook = settings.relay_sign_in
        self.sign_in = sign_in_with(hook) if hook else by_address
        self._listed: tuple[float, list[dict[str, Any]]] = (0.0, [])
        self._client = httpx.AsyncClient(
            base_url=settings.relay_url,
            verify=trusted(),
            headers={"User-Agent": f"personae/{__version__}"}
            | ({"Authorization": f"Bearer {self.key}"} if self.key else {}),
            # The next request is another visitor's.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(SILENT_SECONDS, connect=10.0, pool=None),
            # Well before services close idle connections themselves, many after 5 s: a request
            # that meets the end of one is lost, and must not be sent twice.
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=32, keepalive_expiry=2.0
            ),
        )

    def routes(self) -> list[Route]:
        return [
            Route("/v1/chat/completions", _Endpoint(self.chat), methods=["POST"]),
            Route("/v1/models", _Endpoint(self.list_models), methods=["GET"]),
            Route("/v1/models/{model:path}", _Endpoint(self.one_model), methods=["GET"]),
            Route("/v1/{rest:path}", _Endpoint(self.nothing_else), methods=["GET", "POST"]),
        ]

    async def close(self) -> None:
        await self._client.aclose()

    async def chat(self, scope: Scope, receive: Receive, send: Send) -> None:
        user = await self.sign_in(scope, receive, send)
        if user is None:
            return
        # All of this before the body: what is refused is neither read nor held.
        await self.rate.spend(user)
        await self.budget.check(user)
        with self.places.take(user):
            asked = await self.bodies.asked(Request(scope, receive), user)
            await while_connected(receive, self._answer(asked, user, scope, receive, send))

    async def list_models(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The models that may be used, as far as the service lists them."""
        if await self.sign_in(scope, receive, send) is None:
            return
        body = {"object": "list", "data": await self._allowed_models()}
        await JSONResponse(body, headers=_NOT_KEPT)(scope, receive, send)

    async def one_model(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One of ``list_models``. Raises HttpError: model_not_found."""
        if await self.sign_in(scope, receive, send) is None:
            return
        name = scope["path_params"]["model"]
        found = [model for model in await self._allowed_models() if model["id"] == name]
        if not found:
            raise HttpError(404, "model_not_found", "This host does not offer that model.")
        await JSONResponse(found[0], headers=_NOT_KEPT)(scope, receive, send)

    async def nothing_else(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises HttpError: not_relayed."""
        message = "This host relays chat completions, /v1/chat/completions, and nothing else."
        raise HttpError(404, "not_relayed", message)

    async def _answer(
        self, asked: Asked, user: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        meter = Meter(asked.prompt_tokens, asked.most_tokens)
        try:
            async with self._completion(asked, meter) as response:
                if "text/event-stream" in response.headers.get("content-type", ""):
                    await self._stream(response, meter, asked.wants_usage, send)
                else:
                    whole = await self._whole(response, meter)
                    answer = Response(whole, 200, {"Cache-Control": "no-store"}, JSON)
                    await answer(scope, receive, send)
        finally:
            await self._count(user, meter)

    @asynccontextmanager
    async def _completion(self, asked: Asked, meter: Meter) -> AsyncIterator[httpx.Response]:
        """The service's answer; one that may not be asked for the usage is asked without."""
        for content in (asked.content, asked.plain):
            assert content is not None
            async with self._asked("POST", "/chat/completions", content, meter) as response:
                if response.status_code == 200:
                    yield response
                    return
                meter.refused()
                refused = await upstream_errors.refusal(response, self.redactor)
                if content is asked.plain or asked.plain is None or not _of_usage(refused):
                    raise refused

    async def _count(self, user: str, meter: Meter) -> None:
        tokens = meter.tokens
        for kind, number in tokens.items():
            metrics.TOKENS.labels(kind).inc(number)
        if any(tokens.values()):
            try:
                await self.budget.spend(user, sum(tokens.values()))
            except HttpError as error:
                log.error("%d tokens were not counted: %s", sum(tokens.values()), error.code)

    @asynccontextmanager
    async def _asked(
        self, method: str, path: str, content: bytes | None = None, meter: Meter | None = None
    ) -> AsyncIterator[httpx.Response]:
        headers = {"Content-Type": JSON} if content else {}

        async def trace(event: str, info: object) -> None:
            if meter and event.endswith(".send_request_body.complete"):
                meter.sent()

        try:
            async with self._client.stream(
                method, path, content=content, headers=headers, extensions={"trace": trace}
            ) as got:
                yield got
        except httpx.HTTPError as error:
            log.warning("the model service failed: %s", type(error).__name__)
            raise upstream_errors.failure(error) from error

    async def _stream(
        self, response: httpx.Response, meter: Meter, wants_usage: bool, send: Send
    ) -> None:
        await send_start(send, 200, _STREAM_HEADERS)
        async with aclosing(self._events(response, meter, wants_usage)) as passing:
            try:
                await send_chunks(send, passing)
            except TimeoutError:
                log.warning("a stream broke off: client_stalled")

    async def _events(self, response: httpx.Response, meter: Meter, wants_usage: bool) -> Chunks:
        """The service's events; a break becomes a last event, so that clients see why."""
        try:
            whole = events(response.aiter_bytes())
            async with aclosing(self.drain.until_over(whole)) as passing:
                async for event in passing:
                    data = data_of(event)
                    if data == b"[DONE]":
                        # Many clients leave here.
                        meter.completed()
                    chunk = _object(data)
                    only_usage = chunk is not None and meter.chunk(chunk)
                    if wants_usage or not only_usage:
                        yield upstream_errors.event_for_visitors(event, chunk, self.redactor)
            meter.completed()
            return
        except httpx.HTTPError as failed:
            error = upstream_errors.failure(failed)
        except HttpError as stopped:
            error = stopped
        metrics.ERRORS.labels("/v1/chat/completions", error.code).inc()
        log.warning("a stream broke off: %s", error.code)
        reason = {"error": {"code": error.code, "message": error.message}}
        yield b"\n\ndata: " + encoded(reason) + b"\n\n"

    async def _whole(self, response: httpx.Response, meter: Meter) -> bytes:
        """The JSON object of a complete answer."""
        body = await upstream_errors.limited_body(response, MAX_REPLY, meter.received)
        reply = _object(body)
        if reply is None:
            raise HttpError(502, "upstream_failed", "The model service sent no JSON object.")
        meter.reply(reply)
        told = upstream_errors.told_error(reply, self.redactor)
        return told or upstream_errors.without(self.key, body)

    async def _allowed_models(self) -> list[dict[str, Any]]:
        """What the service lists of it; where it has no list, the names the operator gave."""
        until, listed = self._listed
        if time.monotonic() >= until:
            found = await self._service_models()
            listed = self._offered(found or [])
            if found is not None:
                self._listed = (time.monotonic() + MODELS_SECONDS, listed)
        return listed

    def _offered(self, found: list[Any]) -> list[dict[str, Any]]:
        named = [each["id"] for each in found if isinstance(each, dict) and each.get("id")]
        allowed = [name for name in named if is_offered(name, self.models)]
        names = allowed or [name for name in self.models if name != "*"]
        return [{"id": n, "object": "model", "created": 0, "owned_by": "host"} for n in names]

    async def _service_models(self) -> list[Any] | None:
        """What the service lists; None: it did not tell now, or never does."""
        try:
            async with asyncio.timeout(10), self._asked("GET", "/models") as response:
                listed = _object(await upstream_errors.limited_body(response, MAX_REPLY)) or {}
                found = listed.get("data") if response.status_code == 200 else None
        except (HttpError, TimeoutError):
            return None
        return found if isinstance(found, list) else None


class _Endpoint:
    """A method of Relay as an ASGI app, for this site's own pages and API clients only."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refuse_cross_site(Request(scope))
        await self.answer(scope, receive, send)


def _of_usage(refused: HttpError) -> bool:
    return refused.status in (400, 422) and "stream_options" in refused.message


def _object(data: bytes) -> dict[str, Any] | None:
    """``data`` as a JSON object, if it is one."""
    try:
        parsed = json.loads(data or b"null")
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None
