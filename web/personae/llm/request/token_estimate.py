"""Token estimates, for when a provider sends no usage. Always marked as estimates."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from personae.llm.request.encoded import Part, Stretch, encoded_body

CHARACTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Characters / 4, rounded up."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def estimate_prompt(body: Mapping[str, Any]) -> int:
    """Tokens of a request body: message contents, tool calls and tool definitions."""
    return sum(map(_estimate_part, body["messages"])) + _json_tokens(body.get("tools"))


def estimate_body(body: Mapping[str, Any]) -> int:
    """Tokens of all that is sent, the JSON around the texts included: bytes / 4, rounded up.

    Larger than ``estimate_prompt``, and also of messages that are many and empty.
    """
    size = sum(len(piece.encode()) for piece in encoded_body(body))
    return -(-size // CHARACTERS_PER_TOKEN)


def estimate_message(message: Mapping[str, Any]) -> int:
    return estimate_tokens(message.get("content") or "") + _json_tokens(message.get("tool_calls"))


def _estimate_part(part: Part) -> int:
    return part.tokens if isinstance(part, Stretch) else estimate_message(part)


def usage_or_estimate(
    usage: Mapping[str, Any], body: Mapping[str, Any], written: Iterable[str]
) -> dict[str, Any]:
    """The provider's usage with its three counts as integers, else an estimate of them.

    ``written``: the texts the model wrote. An estimate carries ``estimated: True``; it also stands
    for a report of nothing, since no request is read without a token.
    """
    prompt = _count(usage, "prompt_tokens", "input_tokens")
    completion = _count(usage, "completion_tokens", "output_tokens")
    total = _count(usage, "total_tokens")
    if not (prompt or completion or total):
        return _estimate(body, written)
    prompt, completion = prompt or 0, completion or 0
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {**usage, **counts, "total_tokens": total or prompt + completion}


def _estimate(body: Mapping[str, Any], written: Iterable[str]) -> dict[str, Any]:
    prompt = estimate_prompt(body)
    completion = estimate_tokens("".join(written))
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "estimated": True,
    }


def _count(usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        value = usage.get(name)
        if isinstance(value, int | float) and 0 <= value < 2**53:
            return int(value)
    return None


def _json_tokens(value: Any) -> int:
    return estimate_tokens(json.dumps(value, ensure_ascii=False)) if value else 0
