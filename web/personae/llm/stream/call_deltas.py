"""Assembles streamed tool-call deltas into calls.

Providers differ in how they tell which call a delta belongs to. Rules: a delta belongs to the
call with its ``index``, else to the one with its id, else to the one that is open. A blank id
or name means absent; what is present is assigned, only arguments are appended. A delta that
names a function begins another call when its id differs from the call's, when the names differ
and no id says they are the same, or when it brings a new object after a complete one.
Invariants: the ids that come out are unique and not among the ``taken`` ones; order is that of
first appearance; the work is linear in the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from personae.bounded_json import load_json
from personae.conversation.entries import ToolCall
from personae.llm.stream.message_fields import merged, unknown
from personae.unicode import well_formed, well_formed_json


@dataclass(slots=True, eq=False)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    """What the arguments consist of so far; no empty ones."""
    fields: dict[str, Any] = field(default_factory=dict)
    """What else came with it; of its function under ``function``."""

    def arguments(self) -> str:
        return well_formed("".join(self.pieces))


class CallAssembler:
    def __init__(self, taken: Collection[str] = ()) -> None:
        self._taken = taken
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, delta: Mapping[str, Any]) -> tuple[int, str] | None:
        """Takes one delta; position and name of a call whose name it tells for the first time."""
        function = delta.get("function")
        function = function if isinstance(function, Mapping) else {}
        identity, name = _text(delta.get("id")), _text(function.get("name"))
        piece = _piece(function.get("arguments"))
        call = self._place(delta.get("index"), identity, name, piece)
        first_named = bool(name) and not call.name
        repeated = bool(name) and not first_named and _restarts(call, piece)
        call.id = call.id or identity
        call.name = name or call.name
        if piece and not repeated:
            call.pieces.append(piece)
        call.fields = merged(call.fields, _fields(delta, function))
        return (self._calls.index(call), call.name) if first_named else None

    def finish(self, cut: bool) -> tuple[tuple[ToolCall, ...], tuple[ToolCall, ...]]:
        """The calls to run, and those that were cut off.

        ``cut``: the reply ended early. Then a call is complete when its arguments are, and an
        empty text is so unless the call is the last one.
        """
        named = [call for call in self._calls if call.name]
        whole: list[ToolCall] = []
        broken: list[ToolCall] = []
        for call, id_ in zip(named, self._ids(named), strict=True):
            fields = well_formed_json(call.fields) or None
            made = ToolCall(id_, call.name, call.arguments(), fields=fields)
            empty_but_not_last = not made.arguments.strip() and call is not named[-1]
            complete = not cut or empty_but_not_last or is_object(made.arguments)
            (whole if complete else broken).append(made)
        return tuple(whole), tuple(broken)

    def _place(self, index: Any, identity: str, name: str, piece: str) -> _Call:
        known = self._candidate(index, identity, name)
        if known is None or _starts_another(known, identity, name, piece):
            known = _Call()
            self._calls.append(known)
        if _is_index(index):
            self._by_index[index] = known
        if identity:
            self._by_id[identity] = known
        return known

    def _candidate(self, index: Any, identity: str, name: str) -> _Call | None:
        if _is_index(index):
            if index in self._by_index:
                return self._by_index[index]
            if name or (identity and identity not in self._by_id):
                return None
        if identity in self._by_id:
            return self._by_id[identity]
        return self._calls[-1] if self._calls else None

    def _ids(self, calls: list[_Call]) -> list[str]:
        used = set(self._taken)
        # Nine letters and digits: some providers accept no other form.
        fresh = (f"call{number:05d}" for number in count(1))
        known = {call.id for call in calls}
        ids = []
        for call in calls:
            id_ = call.id
            if not id_ or id_ in used:
                id_ = next(made for made in fresh if made not in used and made not in known)
            used.add(id_)
            ids.append(id_)
        return ids


def _fields(delta: Mapping[str, Any], function: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a delta that are not known; its provider may want them back."""
    own = {name: value for name, value in unknown(delta).items() if name != "function"}
    of_function = {n: value for n, value in unknown(function).items() if n != "arguments"}
    return own | ({"function": of_function} if of_function else {})


def is_object(text: str) -> bool:
    """True when ``text`` is one complete JSON object."""
    try:
        return isinstance(load_json(text), dict)
    except ValueError:
        return False


def _starts_another(call: _Call, identity: str, name: str, piece: str) -> bool:
    if not name or not call.name:
        return False
    same_id = bool(identity) and identity == call.id
    if identity and call.id and not same_id:
        return True
    if name != call.name and not same_id:
        return True
    return _restarts(call, piece) and not (same_id and piece.strip() == call.arguments().strip())


def _restarts(call: _Call, piece: str) -> bool:
    """True when ``piece`` begins an object although the call's arguments are complete."""
    if not (call.pieces and piece.lstrip().startswith("{")):
        return False
    return call.pieces[-1].rstrip().endswith("}") and is_object(call.arguments())


def _piece(arguments: Any) -> str:
    """A fragment as text; an object that was not sent as text becomes its JSON."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


def _is_index(index: Any) -> bool:
    return isinstance(index, int) and not isinstance(index, bool)


def _text(value: Any) -> str:
    return well_formed(value).strip() if isinstance(value, str) else ""
