"""Messages that are encoded once and sent again with every later request.

A conversation's earlier turns are most of a request and never differ from one to the next. They
travel through this package as one ``Stretch``; whoever needs single messages takes them from
``spread``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from personae.unicode import well_formed

Message = Mapping[str, Any]

dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
"""JSON as requests carry it."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive messages ``{role, content}`` of users and assistants, none of them blank.

    Invariant: they are what ``request.body.sendable`` would make of them.
    """

    text: str
    """Their JSON, well-formed, with commas between; at least one."""
    tokens: int
    """The sum of their estimates."""


Part = Message | Stretch


def encoded_saying(role: str, content: str) -> str:
    """The JSON of one message of a stretch."""
    return dumps({"role": role, "content": well_formed(content)})


def spread(parts: Iterable[Part]) -> Iterator[Message]:
    """Every message by itself."""
    for part in parts:
        if isinstance(part, Stretch):
            yield from json.loads(f"[{part.text}]")
        else:
            yield part


def encoded_body(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Pieces of a request body as JSON text that can be written as UTF-8.

    A stretch's text is a piece of its own.
    """
    pieces = ['{"messages":[']
    for part in body["messages"]:
        pieces += (part.text if isinstance(part, Stretch) else well_formed(dumps(part)), ",")
    if len(pieces) > 1:
        pieces.pop()
    rest = dumps({name: value for name, value in body.items() if name != "messages"})
    pieces += ("],", well_formed(rest)[1:])
    return tuple(pieces)
