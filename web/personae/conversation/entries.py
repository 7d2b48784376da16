"""Conversation entries: pure values.

An entry's *index* (the number the bridge API shows to agents) is its position in the list; its
``id`` never changes and orders entries within one conversation. Edits return new lists
(``edits.py``). Their JSON form (``entry_json.py``) is the stored and exported one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

Role = Literal["user", "assistant", "tool", "log", "summary"]
"""``log`` is shown and never sent; ``summary`` stands for what was said before it."""
ResultState = Literal["answered", "suspended", "cut"]
"""What became of a tool call: it has its result, waits for the user, or never ran to its end. A
call without a tool entry is open."""
Cut = Literal["length", "filter", "end"]
"""What ended an answer early: the limit of its length, a content filter, or nobody said what."""


FIRST_MEMBER = "m1"
"""The member that every conversation has."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model made. ``id`` is the provider's, ``number`` the contract's toolCallId."""

    id: str
    name: str
    arguments: str
    """As the model wrote it; may be invalid JSON, which is never sent back as it is."""
    number: int | None = None
    granted: tuple[ToolCall, ...] = ()
    """The calls a sub-agent made with its granted tools while it answered this one."""
    fields: dict[str, Any] | None = None
    """What else the provider sent with the call; sent back as ``Entry.reasoning_fields`` are."""
    extra: dict[str, Any] | None = None
    """Fields of a newer version, kept as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    id: str
    role: Role
    content: str
    at: int
    """Milliseconds since the epoch."""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str | None = None
    reasoning_fields: dict[str, Any] | None = None
    """Fields of the message that its provider wants back, its reasoning among them; sent back
    within the turn."""
    source: str | None = None
    """Who sent those fields, and those of the calls; nobody else gets them. None: not known."""
    pictures: tuple[str, ...] = ()
    """URLs of what the model drew."""
    model: str | None = None
    usage: dict[str, Any] | None = None
    stopped: bool = False
    """The answer is not whole."""
    cut: Cut | None = None
    """Of an answer that is not whole: what the model ended it with; None: the user did, or a
    failure that was said."""
    rejected: bool = False
    tool_call_id: str | None = None
    number: int | None = None
    agent_id: str | None = None
    ok: bool = True
    state: ResultState = "answered"
    """Of a tool entry: what became of its call."""
    member: str = FIRST_MEMBER
    """Whose turn the entry is of."""
    reply_to: str | None = None
    """The id of the entry that caused the turn; None: not known, or no part of a turn."""
    extra: dict[str, Any] | None = None
    """Fields of a newer version, kept as they are."""

    def with_(self, **changes: Any) -> Entry:
        return replace(self, **changes)


def entry_id(sequence: int) -> str:
    """The id of the ``sequence``-th entry ever made in a conversation; sorts as text."""
    return f"e{sequence:010d}"
