"""Well-formed Unicode: no lone surrogate leaves or enters through this package.

Providers cut text between the two halves of a surrogate pair when they count in UTF-16, and
agents may hand over halves. Invariant: what these functions return can be encoded as UTF-8.
"""

from __future__ import annotations

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """``text`` with split pairs joined and lone halves replaced by U+FFFD."""
    if text.isascii() or not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def well_formed_json(value: Any) -> Any:
    """A copy of a JSON value with every string and key well-formed."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(str(key)): well_formed_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [well_formed_json(item) for item in value]
    return value


class PairJoiner:
    """Streams text piece by piece and joins surrogate pairs that were cut between pieces."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The well-formed text known so far; a trailing first half waits for the next piece."""
        piece = self._held + piece
        self._held = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            self._held = piece[-1]
            piece = piece[:-1]
        return well_formed(piece)

    def finish(self) -> str:
        """What was held back; its other half never came."""
        held, self._held = self._held, ""
        return well_formed(held)
