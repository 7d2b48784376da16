"""Turns what a provider says about a failure into a ModelError with a stable code.

Codes: model_unauthorized, model_quota, model_not_found, model_rate_limited, model_bad_request,
model_bad_call, model_relay_refused, model_context_length, model_no_tools, model_content_filter,
model_server_error, model_not_json, model_bad_reply, model_empty_reply, model_stream_error,
model_stalled, model_bad_settings; the transport adds its own for the network (model_unreachable,
...).
Invariants: a message holds the provider's words, the status and a remedy, and never the key;
``detail`` has ``status``, ``url``, ``retryAfter`` and ``provider`` (message, code, type, param).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from personae.errors import ModelError
from personae.llm.provider.fault_codes import code_of
from personae.llm.provider.retry import MAX_WAIT, spelled, wait_in_words
from personae.llm.stream.reply import Reply
from personae.unicode import well_formed

_SHOWN = 600
"""Code points of a provider's message that are shown."""

_LEADS = {
    "model_unauthorized": "The provider refused the API key",
    "model_quota": "The provider account has no credit or quota left",
    "model_not_found": "The provider knows no such model or address",
    "model_rate_limited": "The provider is limiting requests",
    "model_bad_request": "The provider refused the request",
    "model_bad_call": "The provider could not read how the model called a tool",
    "model_relay_refused": "The model service behind this site refuses it",
    "model_context_length": "The conversation is too long for this model",
    "model_no_tools": "This model cannot call tools",
    "model_content_filter": "The provider's content filter refused the request",
    "model_server_error": "The provider failed",
    "model_stream_error": "The provider broke off its answer",
}
REMEDIES = {
    "model_unauthorized": "Check the key in the settings and that it belongs to this base URL.",
    "model_quota": "Add credit with the provider or choose another one.",
    "model_not_found": "Check the model's name and the base URL in the settings.",
    "model_rate_limited": "Wait a moment and try again.",
    "model_bad_request": "Check the model and its settings.",
    "model_bad_call": "Try again; if it happens often, choose another model.",
    "model_relay_refused": "Tell whoever runs this site, or use a provider and a key of your own.",
    "model_context_length": "Choose a model with a larger context, or shorten the conversation.",
    "model_no_tools": "Choose a model that supports tool calling.",
    "model_content_filter": "Change the message and try again.",
    "model_server_error": "Try again in a moment.",
    "model_stream_error": "Try again.",
}


def raise_for_error_object(chunk: Mapping[str, Any]) -> None:
    """Raises for an error object in a chunk, a choice, or a body with status 200."""
    if chunk.get("error") or chunk.get("object") == "error":
        provider = provider_words(chunk)
        raise refusal(_status_in(provider.get("code")), provider)


def provider_words(body: Any) -> dict[str, Any]:
    """message, code, type and param, as far as the provider's JSON has them."""
    body = body[0] if isinstance(body, list) and body else body
    if not isinstance(body, Mapping):
        return {"message": _as_text(body)}
    error = body.get("error") or body
    if not isinstance(error, Mapping):
        return {"message": _as_text(error)}
    message = _as_text(error.get("message") or error.get("detail") or error)
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("raw"):
        message = f"{message}: {_as_text(metadata['raw'])}"
    message += _limits(error.get("details"))
    facts = {name: error[name] for name in ("code", "type", "param") if error.get(name)}
    return {"message": message, **{name: well_formed(str(fact)) for name, fact in facts.items()}}


def _limits(details: Any) -> str:
    """Which quota was exceeded and when to come back, as Google's errors tell it beside."""
    listed = (
        [one for one in details if isinstance(one, Mapping)] if isinstance(details, list) else []
    )
    said = [
        str(violation["quotaId"])
        for one in listed
        for violation in one.get("violations") or ()
        if isinstance(violation, Mapping) and violation.get("quotaId")
    ]
    said += [f"retry in {one['retryDelay']}" for one in listed if one.get("retryDelay")]
    return f" ({', '.join(dict.fromkeys(said))})" if said else ""


def refusal(status: int | None, provider: Mapping[str, Any]) -> ModelError:
    """The error for an HTTP status, or for an error object without one (None)."""
    words = " ".join(str(word) for word in provider.values())
    error = made(code_of(status, words), provider, status)
    wait = wait_in_words(words)
    return error if wait is None else waiting(error, wait)


def made(code: str, provider: Mapping[str, Any], status: int | None) -> ModelError:
    lead = _LEADS[code] + (f" (HTTP {status})" if status else "")
    words = shorten(str(provider.get("message", "")).strip(), _SHOWN).rstrip(".")
    said = f"{lead}: {words}." if words else f"{lead}."
    return ModelError(
        code, f"{said} {REMEDIES[code]}", status=status, retryAfter=None, provider=dict(provider)
    )


def for_strangers(error: ModelError) -> str:
    """What went wrong, for agents: without the provider's words, which tell of the user's account,
    and without the address, which may be one of the user's own network."""
    status = error.detail.get("status")
    lead = _LEADS.get(error.code, "The model gave no answer")
    return f"{lead} (HTTP {status})." if status else f"{lead}."


def web_page(status: int, url: str, text: str) -> ModelError:
    """The error for an HTML page where JSON was due; the page itself is never shown."""
    title = page_title(text)
    named = f', titled "{title}"' if title else ""
    return ModelError(
        "model_not_json",
        f"{url} answered with a web page (HTTP {status}{named}) instead of JSON. "
        "Is the base URL right? It usually ends in /v1.",
        status=status,
        title=title,
        retryAfter=None,
    )


def not_json(status: int, url: str, text: str) -> ModelError:
    return ModelError(
        "model_not_json",
        f"{url} answered with something that is not JSON (HTTP {status}): "
        f'"{shorten(text.strip(), 120)}". Is the base URL right?',
        status=status,
        retryAfter=None,
    )


def bad_reply(status: int, url: str, provider: Mapping[str, Any]) -> ModelError:
    words = shorten(str(provider.get("message", "")), 200)
    return ModelError(
        "model_bad_reply",
        f"{url} answered with JSON that is no chat completion (HTTP {status}): {words}. "
        "Is the base URL that of an OpenAI-compatible provider?",
        status=status,
        retryAfter=None,
    )


def empty_reply(reply: Reply) -> ModelError:
    """The error for a reply that says nothing, calls nothing and shows nothing."""
    said, remedy = "The model answered with nothing.", "Try again."
    if reply.cut == "filter":
        said = "The model answered with nothing because its content filter stepped in."
        remedy = "Change the message and try again."
    elif reply.cut == "length":
        when = "after thinking, before" if reply.reasoning is not None else "before"
        said = f"The model used up its tokens {when} it said anything."
        remedy = "Allow the model more tokens, or shorten the conversation."
    elif reply.reasoning is not None:
        said = "The model thought, and then said nothing."
        remedy = "Try again, or choose another model."
    return ModelError(
        "model_empty_reply",
        f"{said} {remedy}",
        status=200,
        retryAfter=None,
        finishReason=reply.finish_reason,
        usage=dict(reply.usage),
    )


def bad_call(reason: str) -> ModelError:
    """The error for a reply that ended with a call the provider could not read."""
    return made("model_bad_call", {"message": reason}, None)


def waiting(error: ModelError, seconds: float) -> ModelError:
    """The error with the wait that the provider asks for."""
    error.detail["retryAfter"] = seconds
    if seconds <= MAX_WAIT:
        return error
    message = f"{error.message} It asks to be left alone for {spelled(seconds)}."
    return ModelError(error.code, message, **error.detail)


MAYBE_THE_KEY = "The API key may be wrong: the browser does not show how a key is refused."


def broken_chunk(data: str) -> ModelError:
    return made("model_stream_error", {"message": f"broken JSON, {shorten(data, 80)!r}"}, None)


def stalled(seconds: float) -> ModelError:
    return ModelError(
        "model_stalled",
        f"{silence_message(seconds)} Try again, or check the provider's status.",
        status=None,
        retryAfter=None,
    )


def silence_message(seconds: float) -> str:
    return f"The provider has sent nothing for {seconds:.0f} seconds."


def shorten(text: str, size: int) -> str:
    """At most ``size`` code points, marked when something is missing."""
    return text if len(text) <= size else text[: size - 1] + "\u2026"


def page_title(text: str) -> str:
    match = re.search(r"<title\b[^>]*>([^<]*)", text[:65536], re.IGNORECASE)
    if match is None:
        return ""
    from html import unescape

    return shorten(" ".join(unescape(match[1]).split()), 120)


def _status_in(code: Any) -> int | None:
    try:
        status = int(code)
    except (TypeError, ValueError):
        return None
    return status if 400 <= status <= 599 else None


def _as_text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return well_formed(shorten(text, 4000))
