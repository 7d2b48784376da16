"""Reads the arguments a model wrote for a tool call.

Rule: text is repaired only where one reading exists; nothing is ever completed. White space
alone means ``{}``. Double-encoded and fenced JSON is unwrapped. Repairs: trailing commas,
single-quoted strings, unquoted keys, Python's True, False and None, raw control characters in
strings. Each keeps every token and its order, so that no value is invented or lost.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from personae.bounded_json import TooDeepError, load_json
from personae.errors import ModelError
from personae.unicode import well_formed_json

_FENCE = "```"
_FENCE_LANGUAGE = re.compile(r"[A-Za-z0-9]*+")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKEN = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<double>"(?:[^"\\]++|\\[^\x00-\x1f])*+")
    | (?P<single>'(?:[^'\\]++|\\[^\x00-\x1f])*+')
    | (?P<mark>[{}\[\]:,])
    | (?P<number>-?[0-9][0-9.eE+-]*)
    | (?P<word>[A-Za-z_$][A-Za-z0-9_$]*)
    """,
    re.VERBOSE,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LITERALS = frozenset(_WORDS.values())
_MAX_WRAPPINGS = 3


def parse_arguments(text: str) -> dict[str, Any]:
    """The arguments as a JSON object.

    Raises ModelError ``tool_arguments_invalid``; its message is written for the model.
    """
    value = _unwrap(text, _MAX_WRAPPINGS)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _invalid(f"they are a JSON {_kind(value)}, not an object")
    return value


def sendable_arguments(text: str) -> str:
    """The arguments as a request may carry them: JSON text of an object, ``{}`` when unreadable.

    Providers refuse every later request that holds anything else.
    """
    try:
        if isinstance(_strict(text), dict) and not _ESCAPED_SURROGATE.search(text):
            return text
    except (ValueError, ModelError):
        pass
    try:
        return json.dumps(parse_arguments(text), ensure_ascii=False)
    except ModelError:
        return "{}"


def _unwrap(text: str, wrappings: int) -> Any:
    text = text.strip().removeprefix("\ufeff").strip()
    if not text:
        return None
    if text.startswith(_FENCE) and text.endswith(_FENCE) and len(text) >= 6 and wrappings:
        return _unwrap(_FENCE_LANGUAGE.sub("", text[3:-3], count=1), wrappings - 1)
    value = _load(text)
    if isinstance(value, str) and wrappings:
        return _unwrap(value, wrappings - 1)
    return value


def _load(text: str) -> Any:
    try:
        value = _strict(text)
    except ValueError as error:
        value = _repaired(text, error)
    return well_formed_json(value) if _ESCAPED_SURROGATE.search(text) else value


def _strict(text: str) -> Any:
    try:
        return load_json(text, parse_constant=_no_constant, parse_float=_finite)
    except TooDeepError as error:
        raise _invalid(f"they are {error}") from None


def _repaired(text: str, error: ValueError) -> Any:
    strict = _as_strict_json(text)
    try:
        if strict is not None:
            return _strict(strict)
    except ValueError:
        pass
    raise _invalid(str(error)) from error


def _as_strict_json(text: str) -> str | None:
    """The same tokens written as JSON; None when one of them cannot be."""
    written: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        piece = _rewrite(match)
        if piece in ("}", "]") and written and written[-1] == ",":
            written.pop()
        if piece == ":" and written and _is_bare_key(written[-1]):
            written[-1] = f'"{written[-1]}"'
        written += [piece] if piece else []
        at = match.end()
    return " ".join(written)


def _rewrite(match: re.Match[str]) -> str:
    kind, text = match.lastgroup, match[0]
    if kind == "space":
        return ""
    if kind == "single":
        text = '"' + re.sub(r"\\.|\"", _double_quoted, text[1:-1]) + '"'
    if kind in ("single", "double"):
        return re.sub(r"[\x00-\x1f]", lambda match: f"\\u{ord(match[0]):04x}", text)
    return _WORDS.get(text, text)


def _double_quoted(match: re.Match[str]) -> str:
    return {"\\'": "'", '"': '\\"'}.get(match[0], match[0])


def _is_bare_key(piece: str) -> bool:
    return (piece[0].isalpha() or piece[0] in "_$") and piece not in _LITERALS


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text} is too large")
    return number


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "array"
    if isinstance(value, str):
        return "string"
    return "boolean" if isinstance(value, bool) else "number"


def _invalid(reason: str) -> ModelError:
    return ModelError(
        "tool_arguments_invalid",
        f"The tool call's arguments cannot be used: {reason}. "
        "Call the tool again with one JSON object that matches its parameters.",
    )
