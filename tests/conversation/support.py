"""Conversations to edit, written briefly."""

from __future__ import annotations

from typing import Any

from personae.conversation.edits import Edit
from personae.conversation.entries import Entry, ToolCall, entry_id


def talk(*lines: tuple[Any, ...]) -> list[Entry]:
    """Entries from ``(role, content, calls or number, rejected)``; ids count up from 1.

    An assistant's third item lists the numbers of its calls, a tool's is the number it answers; a
    call has the id ``c<number>``.
    """
    return [_entry(at, *line) for at, line in enumerate(lines, 1)]


def _entry(at: int, role: Any, content: str, third: Any = None, rejected: bool = False) -> Entry:
    fields: dict[str, Any] = {}
    if role == "assistant" and third:
        fields["tool_calls"] = tuple(ToolCall(f"c{n}", "t", "{}", n) for n in third)
    if role == "tool":
        fields |= {"tool_call_id": f"c{third}", "number": third}
    return Entry(id=entry_id(at), role=role, content=content, at=at, rejected=rejected, **fields)


def texts(entries: Any) -> list[str]:
    return [entry.content for entry in entries]


def lost_numbers(edit: Edit) -> tuple[int, ...]:
    """The toolCallIds that left the history, whoever's they were, ascending."""
    return tuple(sorted(number for numbers in edit.lost.values() for number in numbers))


ROUND = (("assistant", "let me", [1]), ("log", "audit"), ("tool", "4", 1), ("assistant", "four"))
