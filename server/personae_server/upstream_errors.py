"""What the model service says when it fails, made fit for strangers' eyes.

Invariants: neither the operator's key nor an address of the inner network nor a traceback is
passed on; a refusal of the operator's credentials is the operator's business, not the visitor's.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import re
from typing import Any

import httpx

from personae_server.errors import HttpError
from personae_server.guard import is_public

log = logging.getLogger(__name__)

MAX_ERROR = 64 * 1024
MAX_MESSAGE = 2000
_CREDENTIALS = (401, 402, 403, 407)
_V4 = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key|Bearer)[-_ ][\w*.-]{8,}")


def without(key: str, data: bytes) -> bytes:
    return data.replace(key.encode(), b"***") if key else data


async def limited_body(response: httpx.Response, limit: int) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > limit:
            raise HttpError(502, "too_large", "The model service's answer is too large.")
    return bytes(body)


def failure(error: httpx.HTTPError) -> HttpError:
    if isinstance(error, httpx.TimeoutException):
        return HttpError(504, "upstream_timeout", "The model service took too long.")
    return HttpError(502, "upstream_failed", "The connection to the model service failed.")


async def refusal(response: httpx.Response, key: str) -> HttpError:
    """The service's refusal: its status, and of its words what visitors may read."""
    status = response.status_code
    if status in _CREDENTIALS:
        log.error("the model service refuses this host's credentials: status %d", status)
        message = "The model service refuses this host's access: its operator has to look at it."
        return HttpError(502, "relay_refused", message)
    if status < 400:
        message = f"The model service answered with status {status}."
        return HttpError(502, "upstream_status", message)
    told = _error_object(await limited_body(response, MAX_ERROR))
    code = told.get("code") or told.get("type") or "upstream_status"
    message = told.get("message") or f"The model service answered with status {status}."
    names = ("retry-after", "retry-after-ms")
    headers = {name: response.headers[name] for name in names if name in response.headers}
    return HttpError(status, safe(str(code), key)[:100], safe(str(message), key), headers)


def safe(text: str, key: str) -> str:
    """``text`` without keys, inner addresses and tracebacks, at most MAX_MESSAGE long."""
    if key:
        text = text.replace(key, "***")
    text = _KEY_LIKE.sub("***", text.partition("Traceback (most recent call last)")[0])
    return _V4.sub(_hidden_if_inner, text)[:MAX_MESSAGE]


def _hidden_if_inner(found: re.Match[str]) -> str:
    try:
        return found[0] if is_public(ipaddress.IPv4Address(found[0])) else "***"
    except ValueError:
        return found[0]


def _error_object(body: bytes) -> dict[str, Any]:
    """``{"error": {...}}``, ``{"error": "text"}``, ``{"message": ...}``, ``{"detail": ...}``."""
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    error = parsed.get("error", parsed)
    if isinstance(error, dict):
        return error if error.get("message") else {"message": parsed.get("detail")}
    return {"message": error}
