"""Which fields of a chat completion the relay forwards: one table, printed in docs/hosting.md.

It holds what every model service takes and what cannot choose another model, another address or
another price: ``models``, ``fallbacks``, ``route``, ``api_base``, ``plugins``, ``service_tier``,
``store`` and the like are refused, as is every name that nobody knows. Refused rather than left
out: a request never means something else than its sender wrote, and is told what to change.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from personae.errors import UsageError

from personae_server.chat_kinds import (
    Choice,
    DataUrl,
    Either,
    Flag,
    Kind,
    ListOf,
    MapOf,
    Number,
    Schema,
    Shape,
    Sized,
    Tagged,
    Text,
)

_PICTURE = Shape({"url": DataUrl(), "detail": Choice(("auto", "low", "high"))})
_PART = Tagged(
    {
        "text": Shape({"text": Text()}),
        "image_url": Shape({"image_url": Either((DataUrl(), _PICTURE))}),
        "input_audio": Shape({"input_audio": Shape({"data": Text(), "format": Text(16)})}),
        "file": Shape({"file": Shape({"file_data": DataUrl(), "filename": Text(256)})}),
        "refusal": Shape({"refusal": Text()}),
    }
)

_MESSAGE = Shape(
    {
        "role": Choice(("system", "developer", "user", "assistant", "tool")),
        "content": Either((Text(), ListOf(_PART, 1000))),
        "name": Text(256),
        "tool_calls": ListOf(Kind(), 128),
        "tool_call_id": Text(256),
        "refusal": Text(),
        # What services sent with an answer and want to see again.
        "annotations": ListOf(Kind(), 1000),
        "reasoning": Text(),
        "reasoning_content": Text(),
        "reasoning_details": ListOf(Kind(), 1000),
        "thinking_blocks": ListOf(Kind(), 1000),
        # The package format's mark of background material.
        "isFile": Flag(),
    }
)

_FUNCTION = Shape(
    {"name": Text(128), "description": Text(), "parameters": Schema(), "strict": Flag()}
)
_TOOL = Tagged({"function": Shape({"function": _FUNCTION})})
_CHOSEN_TOOL = Tagged({"function": Shape({"function": Shape({"name": Text(128)})})})
_JSON_SCHEMA = Shape(
    {"name": Text(128), "description": Text(), "schema": Schema(), "strict": Flag()}
)
_FORMAT = Tagged(
    {
        "text": Shape({}),
        "json_object": Shape({}),
        "json_schema": Shape({"json_schema": _JSON_SCHEMA}),
    }
)

TABLE: dict[str, Kind] = {
    "model": Text(256),
    "messages": ListOf(_MESSAGE, 10_000),
    "tools": Sized(ListOf(_TOOL, 128), 256 * 1024),
    "tool_choice": Either((Choice(("auto", "none", "required")), _CHOSEN_TOOL)),
    "parallel_tool_calls": Flag(),
    "stream": Flag(),
    "stream_options": Shape({"include_usage": Flag(), "include_obfuscation": Flag()}),
    "n": Number(1, 4, whole=True),
    "max_tokens": Number(1, 131_072, whole=True),
    "max_completion_tokens": Number(1, 131_072, whole=True),
    "temperature": Number(0, 2),
    "top_p": Number(0, 1),
    "presence_penalty": Number(-2, 2),
    "frequency_penalty": Number(-2, 2),
    "stop": Either((Text(256), ListOf(Text(256), 16))),
    "seed": Number(-(2**63), 2**63 - 1, whole=True),
    "logit_bias": MapOf(Number(-100, 100), 1024),
    "logprobs": Flag(),
    "top_logprobs": Number(0, 20, whole=True),
    "response_format": Sized(_FORMAT, 64 * 1024),
    "reasoning_effort": Text(16),
    "verbosity": Text(16),
}


LENGTHS = ("max_tokens", "max_completion_tokens")
"""Two names of one thing; which of them counts, the service says."""


def chat_fields(changes: Iterable[str] = ()) -> Shape:
    """The table with the operator's changes.

    ``name`` forwards a field as it comes, ``name=5`` a number up to 5; a bound of the answer's
    length holds under both of its names. Raises UsageError.
    """
    table = dict(TABLE)
    given = [change.partition("=") for change in changes]
    named = {name for name, _, _ in given}
    for name, sign, bound in given:
        made = _bounded(table.get(name), f"{name}={bound}", bound) if sign else Kind()
        same = LENGTHS if sign and name in LENGTHS else ()
        table |= {name: made, **{other: made for other in same if other not in named}}
    return Shape(table)


def table_rows() -> str:
    """The table as docs/hosting.md prints it."""
    return "".join(f"| `{path}` | {accepts} |\n" for path, accepts in Shape(TABLE).rows(""))


def asked_tokens(body: dict[str, Any]) -> int | None:
    """How many tokens the answer may have, where the request says it."""
    bounds = [body.get(name) for name in LENGTHS]
    numbers = [int(bound) for bound in bounds if isinstance(bound, int | float)]
    choices = body.get("n")
    return (
        max(numbers) * (int(choices) if isinstance(choices, int | float) else 1)
        if numbers
        else None
    )


def _bounded(known: Kind | None, change: str, bound: str) -> Number:
    number = Number(float("-inf"), 0) if known is None else known
    try:
        if not isinstance(number, Number):
            raise ValueError("that field is no number")
        most = float(bound)
        if not number.least <= most < float("inf"):
            raise ValueError(f"the bound goes from {number.least:,}")
    except ValueError as error:
        message = f"relay_fields has {change!r}: {error}. Write a field's name, or name=most."
        raise UsageError("setting_invalid", message) from error
    return replace(number, most=int(most) if most.is_integer() else most)
