"""What a killed tab left behind.

A tool call is stored before it runs and its result together with the agent's store afterwards.
A call that is still open when a conversation is opened was therefore interrupted: its agent's
store does not hold its effects, and it is never run again on its own. A suspended call has its
placeholder and is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from personae.conversation.entries import Entry, ToolCall
from personae.conversation.turns import last_message

INTERRUPTED = (
    "Error: the player was closed while this call was under way. It has no result and was not "
    "run again."
)


def open_calls(entries: Sequence[Entry]) -> list[tuple[Entry, ToolCall]]:
    """The calls of the current turn that have no result, each with its assistant entry."""
    start = last_message(entries)
    turn = entries[start + 1 if start is not None else 0 :]
    ended = {entry.tool_call_id for entry in turn if entry.role == "tool"}
    return [(entry, call) for entry in turn for call in entry.tool_calls if call.id not in ended]
