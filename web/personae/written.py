"""JSON that is written once: whoever sends, stores or logs the value takes its text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

# What is written has been read from JSON or put together here: there is no cycle in it.
_encode = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Written:
    """A JSON value as its text."""

    text: str


def dumps(value: Any) -> str:
    """Compact JSON; every character as it is, and no line break."""
    return _encode(value)


def written(value: Any) -> Written:
    """The value's text; of what is written already, the same."""
    return value if isinstance(value, Written) else Written(dumps(value))


def with_last(items: Written, last: Mapping[str, Any]) -> str:
    """The text of a list that was written here, with one more item."""
    comma = "" if items.text == "[]" else ","
    return f"{items.text[:-1]}{comma}{dumps(last)}]"
