"""Parses JSON text of foreign origin with a bound on its nesting.

The bound is checked before parsing: in a browser, Python's reader ends the whole interpreter on
a text nested some thousand times, where elsewhere it raises RecursionError.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from personae.package.jsontext import MAX_DEPTH, is_deep


class TooDeepError(ValueError):
    """The value is nested too deeply."""

    def __init__(self) -> None:
        super().__init__(f"nested more than {MAX_DEPTH} levels deep")


def load_json(
    text: str,
    parse_constant: Callable[[str], Any] | None = None,
    parse_float: Callable[[str], Any] | None = None,
) -> Any:
    """``json.loads``. Raises ValueError, of which TooDeepError is one."""
    if is_deep(text):
        raise TooDeepError
    return json.loads(text, parse_constant=parse_constant, parse_float=parse_float)
