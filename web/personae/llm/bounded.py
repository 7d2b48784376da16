"""Parses JSON text of foreign origin with a bound on its nesting.

Deeper values would end in RecursionError somewhere later: when copied, checked or sent on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

MAX_DEPTH = 200


class TooDeepError(ValueError):
    """The value is nested more than MAX_DEPTH levels deep."""


def load_json(
    text: str,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """``json.loads``; raises ValueError (TooDeepError among them) and nothing else."""
    try:
        value = json.loads(text, parse_constant=parse_constant, parse_float=parse_float)
    except RecursionError:
        raise TooDeepError from None
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value):
        raise TooDeepError
    return value


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for holder in level
            if isinstance(holder, dict | list)
            for item in (holder.values() if isinstance(holder, dict) else holder)
        ]
    return bool(level)
