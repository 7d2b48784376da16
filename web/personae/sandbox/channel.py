"""The page's end of the channel to one worker: what is legal when, and nothing else.

Invariants: every message is declared once, in ``protocol.json``; whatever a worker sends is data
from a stranger and is checked here in full (size, shape, state, sender) before anything acts on
it. The first illegal message closes the channel for good. Does no input or output.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from personae.bounded_json import is_deep
from personae.protocol import Declared, declarations, limit
from personae.written import dumps


class ProtocolViolation(Exception):
    """The worker sent something that no honest worker sends."""


class Message(NamedTuple):
    type: str
    fields: Mapping[str, Any]
    store: str | None = None
    """JSON text of the agent's store, not parsed here."""


class Channel:
    """``state`` is one of booting, ready, loading, idle, calling, closed."""

    def __init__(self) -> None:
        self.state = "booting"
        self._messages = declarations("channel")
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
        self, type_: Any, declared: Declared | None, fields: Mapping[str, Any]
    ) -> str | None:
        if declared is None or declared.sender != "worker":
            return f"a message of type {str(type_)[:40]!r}, which the worker never sends"
        if self.state not in declared.states:
            return f"{type_} in state {self.state}"
        return declared.problem(type_, fields)

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
