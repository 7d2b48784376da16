"""Entries as JSON objects: the stored and the exported form.

Invariants: ``entry_from_json(entry_to_json(entry)) == entry``; fields at their default are left
out; unknown fields of a newer version are kept as they are; a value of the wrong type is refused,
never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, cast, get_args

from personae.conversation.entries import FIRST_MEMBER, Cut, Entry, ResultState, Role, ToolCall
from personae.conversation.numbers import moment_from
from personae.errors import StorageError

_QUOTED = 20
"""Characters of a stranger's text in a sentence of ours."""
_ROLES = ("user", "assistant", "tool", "log", "summary")
_CALL_FIELDS = frozenset(("id", "name", "arguments", "toolCallId", "granted", "fields"))
_ENTRY_FIELDS = frozenset(
    (
        *("id", "role", "content", "at", "tool_calls", "reasoning", "reasoningFields", "model"),
        *("usage", "stopped", "rejected", "tool_call_id", "toolCallId", "agentId", "ok"),
        *("state", "member", "replyTo", "source", "pictures", "cut"),
    )
)


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """``{id, role, content, at, ...}``; see the module docstring."""
    optional = {
        "tool_calls": [_call_to_json(call) for call in entry.tool_calls] or None,
        "reasoning": entry.reasoning,
        "reasoningFields": entry.reasoning_fields or None,
        "source": entry.source,
        "pictures": list(entry.pictures) or None,
        "model": entry.model,
        "usage": entry.usage,
        "stopped": entry.stopped or None,
        "cut": entry.cut,
        "rejected": entry.rejected or None,
        "tool_call_id": entry.tool_call_id,
        "toolCallId": entry.number,
        "agentId": entry.agent_id,
        "ok": entry.ok if entry.role == "tool" else None,
        "state": entry.state if entry.state != "answered" else None,
        "member": entry.member if entry.member != FIRST_MEMBER else None,
        "replyTo": entry.reply_to,
    }
    base = {"id": entry.id, "role": entry.role, "content": entry.content, "at": entry.at}
    written = {key: value for key, value in optional.items() if value is not None}
    return base | written | (entry.extra or {})


def entry_from_json(data: Any) -> Entry:
    """The entry, or StorageError ``entry_unreadable`` naming the field."""
    fields = _Fields(data)
    role = fields.required("role", str)
    if role not in _ROLES:
        raise _unreadable(f"role is {role[:_QUOTED]!r}")
    return Entry(
        id=fields.required("id", str),
        role=cast("Role", role),
        content=fields.required("content", str),
        at=fields.moment("at"),
        tool_calls=tuple(_call_from_json(call) for call in fields.optional("tool_calls", list, [])),
        reasoning=fields.optional("reasoning", str),
        reasoning_fields=fields.optional("reasoningFields", dict),
        source=fields.optional("source", str),
        pictures=tuple(map(str, fields.optional("pictures", list, []))),
        model=fields.optional("model", str),
        usage=fields.optional("usage", dict),
        stopped=fields.optional("stopped", bool, False),
        cut=_cut(fields.optional("cut", str)),
        rejected=fields.optional("rejected", bool, False),
        tool_call_id=fields.optional("tool_call_id", str),
        number=fields.optional("toolCallId", int),
        agent_id=fields.optional("agentId", str),
        ok=fields.optional("ok", bool, True),
        state=_state(fields.optional("state", str, "answered")),
        member=fields.optional("member", str, FIRST_MEMBER),
        reply_to=fields.optional("replyTo", str),
        extra=fields.beyond(_ENTRY_FIELDS),
    )


def _state(text: str) -> ResultState:
    if text not in get_args(ResultState):
        raise _unreadable(f"state is {text[:_QUOTED]!r}")
    return cast("ResultState", text)


def _cut(text: str | None) -> Cut | None:
    if text is not None and text not in get_args(Cut):
        raise _unreadable(f"cut is {text!r}")
    return cast("Cut | None", text)


def _call_to_json(call: ToolCall) -> dict[str, Any]:
    data: dict[str, Any] = {"id": call.id, "name": call.name, "arguments": call.arguments}
    if call.number is not None:
        data["toolCallId"] = call.number
    if call.fields:
        data["fields"] = call.fields
    if call.granted:
        data["granted"] = [_call_to_json(inner) for inner in call.granted]
    return data | (call.extra or {})


def _call_from_json(data: Any) -> ToolCall:
    fields = _Fields(data)
    return ToolCall(
        id=fields.required("id", str),
        name=fields.required("name", str),
        arguments=fields.required("arguments", str),
        number=fields.optional("toolCallId", int),
        granted=tuple(_call_from_json(inner) for inner in fields.optional("granted", list, [])),
        fields=fields.optional("fields", dict),
        extra=fields.beyond(_CALL_FIELDS),
    )


class _Fields:
    """Typed access to a JSON object."""

    def __init__(self, data: Any) -> None:
        if not isinstance(data, Mapping):
            raise _unreadable(f"an object was expected, not {type(data).__name__}")
        self._data = data

    def required(self, name: str, kind: type | tuple[type, ...]) -> Any:
        if name not in self._data:
            raise _unreadable(f"{name} is missing")
        return self._checked(name, kind)

    def optional(self, name: str, kind: type, default: Any = None) -> Any:
        if self._data.get(name) is None:
            return default
        return self._checked(name, kind)

    def moment(self, name: str) -> int:
        try:
            return moment_from(self.required(name, (int, float)))
        except (ValueError, OverflowError):
            raise _unreadable(f"{name} is out of all bounds") from None

    def beyond(self, known: Set[str]) -> dict[str, Any] | None:
        """The fields that are not among ``known``; None when there are none."""
        if self._data.keys() <= known:
            return None
        return {name: value for name, value in self._data.items() if name not in known}

    def _checked(self, name: str, kind: type | tuple[type, ...]) -> Any:
        value = self._data[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _unreadable(f"{name} has the wrong type ({type(value).__name__})")
        return value


def _unreadable(reason: str) -> StorageError:
    return StorageError(
        "entry_unreadable",
        f"A stored message cannot be read: {reason}. Export the conversation, then delete it.",
    )
