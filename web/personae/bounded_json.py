"""Parses JSON text of foreign origin with a bound on its nesting.

The bound is checked before parsing: in a browser, Python's reader ends the whole interpreter on
a text nested some thousand times, where elsewhere it raises RecursionError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Any

MAX_DEPTH = 200
"""Of nested arrays and objects in what packages, providers and workers send."""
MAX_STORE_DEPTH = 1000
"""Of those in an agent's store, which the executors bound to this."""

_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NO_BRACKETS = re.compile(r"[^\[\]{}]+")
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_PASSES = 20
"""Enough for what honest texts hold; what they do not settle is counted, at a price per bracket."""


class TooDeepError(ValueError):
    """The value is nested too deeply."""

    def __init__(self, most: int = MAX_DEPTH) -> None:
        super().__init__(f"nested more than {most} levels deep")


def load_json(
    text: str | bytes,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
    *,
    most: int = MAX_DEPTH,
) -> Any:
    """``json.loads``. Raises ValueError, of which TooDeepError is one."""
    if isinstance(text, bytes):
        text = text.decode()
    if is_deep(text, most):
        raise TooDeepError(most)
    return json.loads(text, parse_constant=parse_constant, parse_float=parse_float)


def check_depth(value: Any, most: int = MAX_DEPTH) -> None:
    """The same bound for a value that was read under a wider one. Raises TooDeepError."""
    level = [value]
    for _ in range(most + 1):
        level = [inner for outer in level for inner in _inside(outer)]
        if not level:
            return
    raise TooDeepError(most)


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def is_deep(text: str, most: int = MAX_DEPTH) -> bool:
    """Whether brackets outside of strings are nested more than ``most`` deep."""
    if text.count("[") + text.count("{") <= most:
        return False
    whole = brackets = _NO_BRACKETS.sub("", _STRING.sub("", text))
    too_deep = re.compile(rf"[\[{{]{{{most + 1}}}")
    if too_deep.search(brackets):
        return True
    for taken in range(1, _PASSES + 1):  # each takes one level away, or two
        fewer = brackets.replace("[]", "").replace("{}", "")
        if len(fewer) + 2 * taken <= most:
            return False
        if len(fewer) == len(brackets):
            break
        brackets = fewer
    return max(accumulate(map(_STEPS.__getitem__, whole)), default=0) > most
