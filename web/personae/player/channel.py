"""The page's end of the channel to one worker: what is legal when, and nothing else.

Invariants: every message is declared once, in ``protocol.json``; whatever a worker sends is data
from a stranger and is checked here in full (size, shape, state, sender) before anything acts on
it. The first illegal message closes the channel for good. Does no input or output.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from personae.bounded import load_json


class ProtocolViolation(Exception):
    """The worker sent something that no honest worker sends."""


@dataclass(frozen=True, slots=True)
class Message:
    type: str
    fields: Mapping[str, Any]
    store: str | None = None
    """JSON text of the agent's store, not parsed here."""


@cache
def protocol() -> dict[str, Any]:
    """The declaration both ends share: ``limits``, ``studio``, ``channel`` and ``frame``."""
    text = files("personae").joinpath("protocol.json").read_text(encoding="utf-8")
    declared: dict[str, Any] = json.loads(text)
    return declared


def limit(name: str) -> int:
    number: int = protocol()["limits"][name]
    return number


def is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_FIELD_TYPES: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "string": lambda value: isinstance(value, str),
    "integer": is_whole,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class Channel:
    """``state`` is one of booting, ready, loading, idle, calling, closed."""

    def __init__(self) -> None:
        self.state = "booting"
        self._messages: dict[str, Any] = protocol()["channel"]
        self._notices = 0

    def close(self) -> None:
        self.state = "closed"

    def outgoing(self, type_: str, **fields: Any) -> str:
        """The text of a message to the worker. An illegal one is a defect of the player."""
        problem = self._problem("page", type_, fields)
        if problem is not None:
            raise AssertionError(problem)
        if type_ in ("load", "call"):
            self._notices = 0
        self._advance(type_)
        return json.dumps({"type": type_, **fields}, ensure_ascii=False)

    def incoming(self, text: str, store: str | None) -> Message:
        """The message a worker sent, checked. Raises ProtocolViolation and closes otherwise."""
        try:
            return self._checked(text, store)
        except ProtocolViolation:
            self.close()
            raise

    def _checked(self, text: str, store: str | None) -> Message:
        if len(text) > limit("messageCharacters"):
            raise ProtocolViolation(f"a message of {len(text)} characters")
        fields = _parsed(text)
        type_ = fields.pop("type", None)
        problem = self._problem("worker", type_, fields) or self._store_problem(type_, store)
        if problem is not None:
            raise ProtocolViolation(problem)
        if type_ == "notice":
            self._count_notice()
        self._advance(type_)
        return Message(type_, fields, store)

    def _problem(self, sender: str, type_: Any, fields: Mapping[str, Any]) -> str | None:
        declared = self._messages.get(type_) if isinstance(type_, str) else None
        if declared is None or declared["from"] != sender:
            return f"a message of type {str(type_)[:40]!r}, which the {sender} never sends"
        if self.state not in declared["in"]:
            return f"{type_} in state {self.state}"
        return _field_problem(type_, declared["fields"], fields)

    def _store_problem(self, type_: str, store: str | None) -> str | None:
        if store is None:
            return None
        if not self._messages[type_].get("store"):
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

    def _advance(self, type_: str) -> None:
        self.state = self._messages[type_].get("then", self.state)


def _parsed(text: str) -> dict[str, Any]:
    try:
        message = load_json(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise ProtocolViolation("a message that is no JSON") from error
    if not isinstance(message, dict):
        raise ProtocolViolation("a message that is no object")
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _field_problem(
    type_: str, declared: Mapping[str, str], fields: Mapping[str, Any]
) -> str | None:
    unknown = fields.keys() - declared.keys()
    if unknown:
        return f"{type_} with an unknown field {min(unknown)[:40]!r}"
    for name, kind in declared.items():
        value = fields.get(name)
        if value is None and kind.endswith("?"):
            continue
        if name not in fields or not _FIELD_TYPES[kind.rstrip("?")](value):
            return f"{type_} whose field {name!r} is no {kind.rstrip('?')}"
    return None
