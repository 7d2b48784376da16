"""What an agent's value becomes as JSON text: one rule for each kind, see docs/agents.md.

The encoder of the standard library does the work; a value it refuses, or would write in a way
that is no JSON, is cleaned first.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, date, datetime
from math import isfinite

MAX_DEPTH = 1000

_CONTAINERS = (dict, list, tuple)
_SURROGATES = re.compile("[\ud800-\udfff]")
_DROPPED = object()
_MANY = 100_000


class Refused(Exception):
    """A value has no JSON form; the message names its place."""


def to_json(value: object, name: str) -> str | None:
    """JSON text of ``value``; None where JSON has no word for it. ``name`` is for errors."""
    if _is_too_deep(value):
        # The encoder would end the whole interpreter; cleaning says where it is too deep.
        _cleaned(value, name)
    try:
        text = _encode(value)
    except (TypeError, ValueError):
        value = _cleaned(value, name)
        if value is _DROPPED:
            return None
        text = _encode(value)
    return well_formed(text)


def well_formed(text: str) -> str:
    """The text with U+FFFD for every lone surrogate."""
    return text if text.isascii() else _SURROGATES.sub("\ufffd", text)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _is_too_deep(value: object) -> bool:
    """Whether containers are nested deeper than they may be, or contain themselves."""
    level = [value] if isinstance(value, _CONTAINERS) else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, _CONTAINERS)
        ]
        if not level:
            return False
        if len(level) > _MANY:  # what contains itself twice would double with every level
            level = list({id(item): item for item in level}.values())
    return True


def _cleaned(value: object, name: str) -> object:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 4 * MAX_DEPTH)
    try:
        return _clean(value, [name], [])
    finally:
        sys.setrecursionlimit(limit)


def _clean(value: object, path: list[str], above: list[object]) -> object:
    """The value as the encoder takes it."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, _CONTAINERS):
        return _clean_container(value, path, above)
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if callable(value):
        return _DROPPED
    raise _refusal(path, f"is a {type(value).__name__}; use a plain dict or list")


def _clean_container(value, path: list[str], above: list[object]) -> object:
    if any(value is outer for outer in above):
        raise _refusal(path, "contains itself")
    if len(above) >= MAX_DEPTH:
        raise Refused(f"{path[0]} is nested deeper than {MAX_DEPTH}")
    above.append(value)
    cleaned = (
        _clean_dict(value, path, above)
        if isinstance(value, dict)
        else _clean_list(value, path, above)
    )
    above.pop()
    return cleaned


def _clean_list(value, path: list[str], above: list[object]) -> list[object]:
    items = []
    for index, item in enumerate(value):
        path.append(f"[{index}]")
        item = _clean(item, path, above)
        items.append(None if item is _DROPPED else item)
        path.pop()
    return items


def _clean_dict(value, path: list[str], above: list[object]) -> dict[object, object]:
    items = {}
    for key, item in value.items():
        path.append(f".{key}")
        if not (key is None or isinstance(key, (str, int, float))):
            raise _refusal(path[:-1], f"has a key that is a {type(key).__name__}; use strings")
        item = _clean(item, path, above)
        if item is not _DROPPED:
            items[key] = item
        path.pop()
    return items


def _refusal(path: list[str], reason: str) -> Refused:
    place = "".join(path)
    if len(place) > 120:
        place = f"{place[:60]}…{place[-40:]}"
    return Refused(f"{place} {reason}")
