"""Strict JSON with places: errors carry line and column, values can be found again.

Refused beyond Python's own reader: NaN, infinities (also by overflow) and halves of surrogate
pairs, none of which could be handed to an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from personae.bounded_json import MAX_DEPTH, is_deep

_SPACE = re.compile(r"[ \t\n\r]*")


class JsonFault(ValueError):
    """``offset``: characters from the start of the text, or None when it is not known."""

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def _constant(name: str) -> NoReturn:
    raise JsonFault(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise JsonFault(f"the number {text[:20]} is too large")
    return value


_DECODER = json.JSONDecoder(parse_constant=_constant, parse_float=_finite)


def parse_prefix(text: str, start: int = 0) -> tuple[Any, int]:
    """The JSON value that begins at ``start`` (after white space), and where it ends."""
    begin = _skip(text, start)
    if is_deep(text[begin:]):
        raise JsonFault(f"the value is nested more than {MAX_DEPTH} deep")
    try:
        value, end = _DECODER.raw_decode(text, begin)
        if re.search(r"\\u[dD]", text[begin:end]):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise _explain(text, error) from None
    except UnicodeEncodeError:
        raise JsonFault("a text holds half of a surrogate pair", begin) from None
    except JsonFault:
        raise
    except ValueError as error:
        raise JsonFault(str(error)) from None
    return value, end


def parse(text: str) -> Any:
    """The value of a whole text. Raises JsonFault."""
    value, end = parse_prefix(text)
    rest = _skip(text, end)
    if rest < len(text):
        raise JsonFault("there is text after the end of the JSON value", rest)
    return value


def place(text: str, offset: int | None) -> tuple[int | None, int | None]:
    """Line and column, both from 1, of an offset."""
    if offset is None:
        return None, None
    line = text.count("\n", 0, offset) + 1
    return line, offset - text.rfind("\n", 0, offset)


def locate(text: str, path: Sequence[str | int]) -> int | None:
    """Where the value at ``path`` begins in a valid JSON text, or None when it is absent.

    Where a key is repeated, the last one counts, as in the parsed value.
    """
    offset = _skip(text, 0)
    for key in path:
        found = None
        for name, start in _children(text, offset):
            if name == key:
                found = start
        if found is None:
            return None
        offset = found
    return offset


def locate_children(text: str, path: Sequence[str | int]) -> dict[str | int, int]:
    """Where each member of the object or array at ``path`` begins; empty when it is neither."""
    offset = locate(text, path)
    return {} if offset is None else dict(_children(text, offset))


def _children(text: str, offset: int) -> list[tuple[str | int, int]]:
    closing = {"{": "}", "[": "]"}.get(text[offset])
    children: list[tuple[str | int, int]] = []
    offset = _skip(text, offset + 1)
    while closing and text[offset] != closing:
        name: str | int = len(children)
        if closing == "}":
            name, offset = _DECODER.raw_decode(text, offset)
            offset = _skip(text, _skip(text, offset) + 1)
        children.append((name, offset))
        offset = _skip(text, _DECODER.raw_decode(text, offset)[1])
        if text[offset] == ",":
            offset = _skip(text, offset + 1)
    return children


def _skip(text: str, offset: int) -> int:
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def _explain(text: str, error: json.JSONDecodeError) -> JsonFault:
    """Names the two mistakes that hand-written JSON has most, at the place of the mistake."""
    if text.startswith(("//", "/*"), error.pos):
        return JsonFault("JSON has no comments; remove it", error.pos)
    before = len(text[: error.pos].rstrip()) - 1
    if text[error.pos : error.pos + 1] in ("}", "]") and text[before : before + 1] == ",":
        return JsonFault("a comma after the last item is not JSON; remove it", before)
    if error.msg.startswith("Illegal trailing comma"):
        return JsonFault("a comma after the last item is not JSON; remove it", error.pos)
    return JsonFault(f"not valid JSON: {error.msg}", error.pos)
