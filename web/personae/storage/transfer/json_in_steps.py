"""Reads a large JSON text in steps: the members of its outer levels one by one.

Invariant: the value is the one that ``load_json`` gives; a text that is none raises ValueError.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from personae.bounded_json import MAX_STORE_DEPTH, TooDeepError, load_json
from personae.package.steps import Steps

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_PLAIN = re.compile(r"[^\s\[\]{},:\"]+")
_PART = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]|[^\[\]{}"]+', re.DOTALL)
_EACH = 256
"""Parts looked at in one step."""


def read_json(text: str, levels: int = 2) -> Steps[Any]:
    """The value of a text whose ``levels`` outer levels may have very many members."""
    value, end = yield from _value(text, _after_space(text, 0), levels)
    if _after_space(text, end) != len(text):
        raise ValueError("there is more after the value")
    return value


def _value(text: str, start: int, levels: int) -> Steps[tuple[Any, int]]:
    opening = text[start : start + 1]
    if levels and opening == "{":
        return (yield from _members(text, start, levels, "}"))
    if levels and opening == "[":
        return (yield from _members(text, start, levels, "]"))
    end = yield from _end(text, start)
    return load_json(text[start:end], most=MAX_STORE_DEPTH), end


def _members(text: str, start: int, levels: int, closing: str) -> Steps[tuple[Any, int]]:
    """The members of the object or list that begins at ``start``."""
    named = closing == "}"
    found: Any = {} if named else []
    add: Callable[[Any, Any], None] = found.__setitem__ if named else _append_to(found)
    place = _after_space(text, start + 1)
    if text[place : place + 1] == closing:
        return found, place + 1
    while True:
        name = None
        if named:
            name, place = _name(text, place)
        value, place = yield from _value(text, place, levels - 1)
        add(name, value)
        yield "reading", place, len(text)
        place = _after_space(text, place)
        mark = text[place : place + 1]
        if mark == closing:
            return found, place + 1
        if mark != ",":
            raise ValueError("a comma is missing")
        place = _after_space(text, place + 1)


def _append_to(found: list[Any]) -> Callable[[Any, Any], None]:
    return lambda _, value: found.append(value)


def _name(text: str, place: int) -> tuple[str, int]:
    match = _STRING.match(text, place)
    if match is None:
        raise ValueError("a name is missing")
    after = _after_space(text, match.end())
    if text[after : after + 1] != ":":
        raise ValueError("a colon is missing")
    name: str = load_json(match[0])
    return name, _after_space(text, after + 1)


def _end(text: str, start: int) -> Steps[int]:
    """Where the value that begins at ``start`` ends, as far as brackets tell."""
    if text[start : start + 1] not in ("{", "["):
        match = _STRING.match(text, start) or _PLAIN.match(text, start)
        if match is None:
            raise ValueError("a value is missing")
        return match.end()
    depth = count = 0
    place = start
    while True:
        match = _PART.match(text, place)
        if match is None:
            raise ValueError("the text ends too early")
        place, count = match.end(), count + 1
        if match[0] in ("{", "["):
            depth += 1
        elif match[0] in ("}", "]"):
            depth -= 1
        if depth == 0:
            return place
        if depth > MAX_STORE_DEPTH:
            raise TooDeepError(MAX_STORE_DEPTH)
        if count % _EACH == 0:
            yield "reading", place, len(text)


def _after_space(text: str, place: int) -> int:
    match = _SPACE.match(text, place)
    return match.end() if match else place
