"""Why something of an agent or a tool is run, and what led there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from personae.conversation.entries import ToolCall

NoteGranted = Callable[[ToolCall], None]
"""Records a granted call beside the tool call that is being answered."""
InvokedBy = Literal["model", "direct", "preload", "hook"]


@dataclass(frozen=True, slots=True)
class Invocation:
    """Reference: The context object."""

    invoked_by: InvokedBy
    number: int | None = None
    """The toolCallId; only for tool calls that land in the history."""
    chain: tuple[str, ...] = ()
    """Ids of the agents whose own calls led here."""
    note_granted: NoteGranted | None = None
