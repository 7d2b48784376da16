"""What ``protocol.json`` declares: every message, its sender and its fields, for both its ends."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from personae import resources

Section = Literal["channel", "frame"]

# The exact types that parsed JSON consists of; None accepts any.
_TYPES: dict[str, type | None] = {
    "any": None,
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


@cache
def protocol() -> dict[str, Any]:
    """All of it: ``limits``, ``studio``, ``channel``, ``frame``, ``worker`` and ``events``."""
    declared: dict[str, Any] = json.loads(resources.text("protocol.json"))
    return declared


def limit(name: str) -> int:
    number: int = protocol()["limits"][name]
    return number


@dataclass(frozen=True, slots=True)
class Declared:
    """One message's declaration, ready for checking."""

    sender: str
    states: frozenset[str]
    """Where it is legal, in a section that has states."""
    then: str | None
    has_store: bool
    has_body: bool
    fields: tuple[tuple[str, str, bool, type | None], ...]
    """Name, type's name, whether it is optional, type."""
    names: frozenset[str]

    def problem(self, type_: str, fields: Mapping[str, Any]) -> str | None:
        """What is wrong with the fields of a message that came from outside."""
        if not fields.keys() <= self.names:
            return f"{type_} with an unknown field {min(fields.keys() - self.names)[:40]!r}"
        for name, kind, is_optional, exact in self.fields:
            value = fields.get(name)
            if value is None and is_optional:
                continue
            if name not in fields or (exact is not None and type(value) is not exact):
                return f"{type_} whose field {name!r} is no {kind}"
        return None


@cache
def declarations(section: Section) -> dict[str, Declared]:
    """The messages of a section, by type."""
    return {name: _declared(message) for name, message in protocol()[section].items()}


def _declared(message: dict[str, Any]) -> Declared:
    fields = tuple(
        (name, kind.rstrip("?"), kind.endswith("?"), _TYPES[kind.rstrip("?")])
        for name, kind in message["fields"].items()
    )
    return Declared(
        sender=message["from"],
        states=frozenset(message.get("in", ())),
        then=message.get("then"),
        has_store=message.get("store", False),
        has_body="body" in message,
        fields=fields,
        names=frozenset(message["fields"]),
    )
