"""What a killed tab left behind (architecture: Conversation data).

A tool call is stored before it runs and its result together with the agent's store afterwards.
A call without a result was therefore interrupted: its agent's store does not hold its effects,
and it is never run again on its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from personae.conversation.edits import last_user
from personae.conversation.entries import Entry, ToolCall

INTERRUPTED = (
    "Error: the player was closed while this call was under way. It has no result and was not "
    "run again."
)


def unanswered(entries: Sequence[Entry]) -> list[tuple[Entry, ToolCall]]:
    """The calls of the current turn that have no result, each with its assistant entry."""
    start = last_user(entries)
    turn = entries[start + 1 if start is not None else 0 :]
    answered = {entry.tool_call_id for entry in turn if entry.role == "tool"}
    return [(entry, call) for entry in turn for call in entry.tool_calls if call.id not in answered]
