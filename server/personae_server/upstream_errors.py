"""What the model service says when it fails, made fit for strangers' eyes.

Invariants: neither the operator's key nor a place of the inner network nor a traceback is passed
on, by an answer as little as by an event in the middle of a stream; a refusal of the operator's
credentials is the operator's business, not the visitor's; so is what goes on inside the service.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import Any

import httpx

from personae_server.errors import HttpError
from personae_server.redaction import Redactor
from personae_server.sse import data_of

log = logging.getLogger(__name__)

MAX_ERROR = 64 * 1024
_CREDENTIALS = (401, 402, 403, 407)


def without(key: str, data: bytes) -> bytes:
    return data.replace(key.encode(), b"***") if key else data


async def limited_body(
    response: httpx.Response, limit: int, note: Callable[[int], None] = lambda length: None
) -> bytes:
    """The whole body; ``note`` is told of every piece."""
    body = bytearray()
    async for chunk in response.aiter_bytes():
        note(len(chunk))
        body += chunk
        if len(body) > limit:
            raise HttpError(502, "too_large", "The model service's answer is too large.")
    return bytes(body)


def failure(error: httpx.HTTPError) -> HttpError:
    if isinstance(error, httpx.TimeoutException):
        return HttpError(504, "upstream_timeout", "The model service took too long.")
    return HttpError(502, "upstream_failed", "The connection to the model service failed.")


async def refusal(response: httpx.Response, redactor: Redactor) -> HttpError:
    """The service's refusal: its status, and of its words what visitors may read."""
    status = response.status_code
    if status in _CREDENTIALS:
        log.error("the model service refuses this host's credentials: status %d", status)
        message = "The model service refuses this host's access: its operator has to look at it."
        return HttpError(502, "relay_refused", message)
    message = f"The model service answered with status {status}."
    if status < 400:
        return HttpError(502, "upstream_status", message)
    told = redactor.error(_error_object(await limited_body(response, MAX_ERROR)))
    code = str(told.get("code") or told.get("type") or "upstream_status")[:100]
    # From 501 on it speaks of itself, not of the request.
    if status <= 500 and told.get("message"):
        message = str(told["message"])
    names = ("retry-after", "retry-after-ms")
    headers = {name: response.headers[name] for name in names if name in response.headers}
    detail = {name: told[name] for name in ("type", "param") if name in told}
    return HttpError(status, code, message, headers, **detail)


def event_for_visitors(event: bytes, chunk: dict[str, Any] | None, redactor: Redactor) -> bytes:
    """A streamed event as it came, but for the key and what errors tell.

    ``chunk``: the event's data, where that is an object. Other data than that is no part of
    an answer: it is treated as an error's text.
    """
    told = told_error(chunk, redactor) if chunk is not None else _loose_text(event, redactor)
    return without(redactor.key, event) if told is None else b"data: " + told + b"\n\n"


def told_error(parsed: Any, redactor: Redactor) -> bytes | None:
    """The JSON to pass on of an answer or a streamed event that tells of an error; else None.

    Services tell errors in answers of status 200, too.
    """
    if not isinstance(parsed, dict):
        return None
    if parsed.get("error"):
        return _encoded({"error": redactor.error(parsed["error"])}, redactor)
    choices = parsed.get("choices")
    if not isinstance(choices, list) or not any(map(_failed, choices)):
        return None
    cleaned = [
        {"index": choice.get("index", 0), "error": redactor.error(choice["error"])}
        if _failed(choice)
        else choice
        for choice in choices
    ]
    return _encoded({**parsed, "choices": cleaned}, redactor)


def _loose_text(event: bytes, redactor: Redactor) -> bytes | None:
    """The event's data with its places hidden, if there were any."""
    if len(event) > MAX_ERROR:
        # A part of a chunk that is longer than any error.
        return None
    text = data_of(event).decode("utf-8", "replace")
    hidden = redactor.text(text)
    return " ".join(hidden.splitlines()).encode() if hidden != text else None


def _failed(choice: Any) -> bool:
    return isinstance(choice, dict) and bool(choice.get("error"))


def _encoded(value: Any, redactor: Redactor) -> bytes:
    return without(redactor.key, json.dumps(value).encode())


def _error_object(body: bytes) -> Any:
    """``{"error": {...}}``, ``{"error": "text"}``, ``{"message": ...}``, ``{"detail": ...}``, and a
    list of them, of which the first counts."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(parsed, list):
        parsed = next(iter(parsed), None)
    if not isinstance(parsed, dict):
        return {}
    error = parsed.get("error", parsed)
    if isinstance(error, dict) and not error.get("message"):
        return {"message": parsed.get("detail")}
    return error
