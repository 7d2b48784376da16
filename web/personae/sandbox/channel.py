"""The page's end of the channel to one worker: what is legal when, and nothing else.

Invariants: every message is declared once, in ``protocol.json``; whatever a worker sends is data
from a stranger and is checked here in full (size, shape, state, sender) before anything acts on
it. The first illegal message closes the channel for good. Does no input or output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from personae import resources
from personae.bounded_json import is_deep
from personae.written import dumps


class ProtocolViolation(Exception):
    """The worker sent something that no honest worker sends."""


class Message(NamedTuple):
    type: str
    fields: Mapping[str, Any]
    store: str | None = None
    """JSON text of the agent's store, not parsed here."""


@cache
def protocol() -> dict[str, Any]:
    """The declaration both ends share: ``limits``, ``studio``, ``channel`` and ``frame``."""
    declared: dict[str, Any] = json.loads(resources.text("protocol.json"))
    return declared


def limit(name: str) -> int:
    number: int = protocol()["limits"][name]
    return number


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# The exact types that parsed JSON consists of; None accepts any.
_TYPES: dict[str, type | None] = {
    "any": None,
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
}


@dataclass(frozen=True, slots=True)
class _Declared:
    """One message's declaration, ready for checking."""

    sender: str
    states: frozenset[str]
    then: str | None
    has_store: bool
    has_body: bool
    fields: tuple[tuple[str, str, bool, type | None], ...]
    """Name, type's name, whether it is optional, type."""
    names: frozenset[str]


@cache
def _declarations() -> dict[str, _Declared]:
    def declared(message: dict[str, Any]) -> _Declared:
        fields = tuple(
            (name, kind.rstrip("?"), kind.endswith("?"), _TYPES[kind.rstrip("?")])
            for name, kind in message["fields"].items()
        )
        return _Declared(
            sender=message["from"],
            states=frozenset(message["in"]),
            then=message.get("then"),
            has_store=message.get("store", False),
            has_body="body" in message,
            fields=fields,
            names=frozenset(message["fields"]),
        )

    return {name: declared(message) for name, message in protocol()["channel"].items()}


class Channel:
    """``state`` is one of booting, ready, loading, idle, calling, closed."""

    def __init__(self) -> None:
        self.state = "booting"
        self._messages = _declarations()
        self._notices = 0
        self._most_characters = limit("messageCharacters")

    def close(self) -> None:
        self.state = "closed"

    def outgoing(self, type_: str, body: str | None = None, **fields: Any) -> str:
        """The text of a message to the worker: a line, then its body, which is JSON already.

        An illegal one is a defect of the player.
        """
        declared = self._messages[type_]
        assert declared.sender == "page" and self.state in declared.states, (type_, self.state)
        assert fields.keys() == declared.names and (body is not None) == declared.has_body, type_
        if type_ in ("load", "call"):
            self._notices = 0
        self.state = declared.then or self.state
        line = dumps({"type": type_, **fields})
        return line if body is None else f"{line}\n{body}"

    def incoming(self, text: str, store: str | None) -> Message:
        """The message a worker sent, checked. Raises ProtocolViolation and closes otherwise."""
        try:
            return self._checked(text, store)
        except ProtocolViolation:
            self.close()
            raise

    def _checked(self, text: str, store: str | None) -> Message:
        if len(text) > self._most_characters:
            raise ProtocolViolation(f"a message of {len(text)} characters")
        fields = _parsed(text)
        type_ = fields.pop("type", None)
        declared = self._messages.get(type_) if isinstance(type_, str) else None
        problem = self._problem(type_, declared, fields)
        if problem is None and store is not None:
            problem = self._store_problem(type_, store)
        if problem is not None or declared is None:
            raise ProtocolViolation(problem)
        if type_ == "notice":
            self._count_notice()
        self.state = declared.then or self.state
        return Message(type_, fields, store)

    def _problem(
        self, type_: Any, declared: _Declared | None, fields: Mapping[str, Any]
    ) -> str | None:
        if declared is None or declared.sender != "worker":
            return f"a message of type {str(type_)[:40]!r}, which the worker never sends"
        if self.state not in declared.states:
            return f"{type_} in state {self.state}"
        return _field_problem(type_, declared, fields)

    def _store_problem(self, type_: str, store: str) -> str | None:
        if not self._messages[type_].has_store:
            return f"{type_} with a store"
        if len(store) > limit("valueCharacters"):
            return f"a store of {len(store)} characters"
        if not (store.startswith("{") and store.endswith("}")):
            return "a store that is no object"
        return None

    def _count_notice(self) -> None:
        self._notices += 1
        # One more than agents may use: the line that counts what was dropped.
        if self._notices > limit("noticesPerCall") + 1:
            raise ProtocolViolation("a flood of notices")


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


_decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
_SHORT = 1000
"""Characters that cannot be nested deep enough to harm the parser."""


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > _SHORT and is_deep(text):
        raise ProtocolViolation("a message that is nested too deeply")
    try:
        message, end = _decode(text)
    except ValueError as error:
        raise ProtocolViolation("a message that is no JSON") from error
    if end != len(text):
        raise ProtocolViolation("a message that is no JSON")
    if not isinstance(message, dict):
        raise ProtocolViolation("a message that is no object")
    return message


def _field_problem(type_: str, declared: _Declared, fields: Mapping[str, Any]) -> str | None:
    if not fields.keys() <= declared.names:
        return f"{type_} with an unknown field {min(fields.keys() - declared.names)[:40]!r}"
    for name, kind, is_optional, exact in declared.fields:
        value = fields.get(name)
        if value is None and is_optional:
            continue
        if name not in fields or (exact is not None and type(value) is not exact):
            return f"{type_} whose field {name!r} is no {kind}"
    return None
