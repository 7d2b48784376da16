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


def plain(text: str) -> str:
    """A stranger's text for a place beside ours: well-formed, and without characters that are not
    seen or that reorder, split or hide what stands around them. Line breaks and tabs stay.
    """
    return _UNSEEN.sub("", _BREAK.sub("\n", well_formed(text)))


def plain_line(text: str, most: int) -> str:
    """``plain`` in one line of at most ``most`` characters."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


_BREAK = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\xad"  # controls, the soft hyphen
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction
    "\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb"  # no width, annotations
    "\U000e0000-\U000e007f]"  # tags
)


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
