"""The body of a relayed request: read to a limit, parsed where it holds nobody up.

A large body's JSON takes seconds and hundreds of MiB if somebody wants it so, and no thread helps,
for the parser lets no other run. It is parsed in a helper process, of which this one gets back
nothing but what it has to know and the bytes to pass on.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from personae_server.chat_fields import asked_tokens
from personae_server.chat_kinds import Shape, encoded
from personae_server.errors import HttpError
from personae_server.helpers import HelperFailed, Helpers
from personae_server.usage import prompt_tokens

MAX_BODY = 16 * 2**20
"""Bytes: a long conversation with a dozen pictures in it."""
SMALL = 32 * 1024
"""Bytes that are parsed in a moment, whatever they are."""
SILENT_SECONDS = 15.0
TOTAL_SECONDS = 120.0
PARSE_SECONDS = 20.0
JSON = "application/json"


class Asked(NamedTuple):
    wants_usage: bool
    """Whether the client wants the usage of its stream; the service is asked for it in any case."""
    content: bytes
    """The request as the model service gets it."""
    plain: bytes | None
    """The same without asking for the usage, where the client did not."""
    prompt_tokens: int
    """An estimate."""
    most_tokens: int | None
    """How many the answer may have, where the request says it."""


class Bodies:
    """``fields``: those that are forwarded; ``models``: those that are offered, ``*`` for all."""

    def __init__(self, fields: Shape, models: tuple[str, ...]) -> None:
        self._fields = fields
        self._models = models
        self._helpers = Helpers()

    async def asked(self, request: Request, client: str) -> Asked:
        """Raises HttpError: request_type (also what keeps other sites' forms out),
        request_too_large, request_slow, request_invalid, model_not_allowed, field_invalid,
        field_not_forwarded, too_many_streams."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise HttpError(415, "request_type", "Send the request as application/json.")
        body = await _read(request)
        if len(body) <= SMALL:
            return understood(body, self._fields, self._models)
        try:
            return await self._helpers.run(
                client, PARSE_SECONDS, understood, body, self._fields, self._models
            )
        except HelperFailed as error:
            raise _invalid("The request is JSON of a kind that cannot be read.") from error


def understood(body: bytes, fields: Shape, models: tuple[str, ...]) -> Asked:
    """Raises HttpError: request_invalid, model_not_allowed, field_invalid, field_not_forwarded."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise _invalid("The request has to be a JSON object.")
    check_model(parsed.get("model"), models)
    sent = fields.clean(parsed, "")
    as_asked = dict(sent)
    wants_usage = _asks_for_usage(sent)
    content = encoded(sent)
    return Asked(
        wants_usage,
        content,
        None if wants_usage else encoded(as_asked),
        prompt_tokens(sent, content),
        asked_tokens(sent),
    )


def is_offered(model: object, models: tuple[str, ...]) -> bool:
    return isinstance(model, str) and ("*" in models or model in models)


def check_model(model: object, models: tuple[str, ...]) -> None:
    """Raises HttpError: model_not_allowed."""
    if not is_offered(model, models):
        offered = ", ".join(name for name in models if name != "*")
        hint = f" Use one of: {offered}." if offered else ""
        raise HttpError(403, "model_not_allowed", f"This host does not offer that model.{hint}")


async def _read(request: Request) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 12 or int(declared) > MAX_BODY):
        raise _too_large()
    body = bytearray()
    try:
        async with asyncio.timeout(TOTAL_SECONDS):
            async for chunk in _chunks(request):
                body += chunk
                if len(body) > MAX_BODY:
                    raise _too_large()
    except TimeoutError as error:
        message = "The request takes too long to arrive."
        raise HttpError(408, "request_slow", message) from error
    except ClientDisconnect as error:
        raise _invalid("The request broke off.") from error
    return bytes(body)


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    """The body's parts. Raises TimeoutError when none comes for SILENT_SECONDS."""
    stream = request.stream()
    while True:
        async with asyncio.timeout(SILENT_SECONDS):
            chunk = await anext(stream, None)
        if chunk is None:
            return
        yield chunk


def _asks_for_usage(body: dict[str, Any]) -> bool:
    """Whether the client wants the usage of its stream; makes ``body`` ask for it in any case."""
    if not body.get("stream"):
        return True
    options = body.get("stream_options")
    options = options if isinstance(options, dict) else {}
    body["stream_options"] = {**options, "include_usage": True}
    return bool(options.get("include_usage"))


def _invalid(message: str) -> HttpError:
    return HttpError(400, "request_invalid", message)


def _too_large() -> HttpError:
    return HttpError(413, "request_too_large", f"The request is over {MAX_BODY // 2**20} MiB.")
