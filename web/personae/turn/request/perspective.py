"""What a member hears of the conversation, in the form it is sent.

Text of earlier turns, everything of the current one; never rejected entries or logs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from personae.conversation.entries import Entry
from personae.conversation.turns import is_said, turn_start
from personae.llm.request.body import tool_message
from personae.llm.request.encoded import Part
from personae.llm.stream.message_fields import sent_back
from personae.llm.stream.reply import call_dict
from personae.turn.request.earlier_turns import EarlierTurns


class Perspective:
    def __init__(self, entries: Callable[[], list[Entry]]) -> None:
        self._entries = entries
        """Those of the conversation as they are now."""
        self._earlier = EarlierTurns()

    def history(self, source: str) -> list[Part]:
        """The messages of the next request that were said or done.

        ``source``: who is asked (``Models.source``).
        """
        entries = self._entries()
        start = turn_start(entries)
        said = self._earlier.stretch(entries, start)
        current = (m for entry in entries[start:] if (m := message(entry, source)) is not None)
        return [*current] if said is None else [said, *current]

    async def keep_up(self, pause: Callable[[], Awaitable[None]]) -> None:
        """Gets a long history ready to be sent, without holding the page up."""
        entries = self._entries()
        await self._earlier.keep_up(entries, turn_start(entries), pause)


def message(entry: Entry, source: str) -> dict[str, Any] | None:
    """An entry of the current turn, or None when it is not sent.

    What a provider wants back of its own is sent to no other. ``llm.request`` answers calls that
    have no result and drops results that have no call.
    """
    if entry.rejected:
        return None
    if entry.role == "tool":
        return tool_message(entry.tool_call_id or "", entry.content)
    said = {"role": entry.role, "content": entry.content}
    if entry.tool_calls:
        own = entry.source == source
        calls = [call_dict(c if own else replace(c, fields=None)) for c in entry.tool_calls]
        stored = (entry.reasoning_fields or {}) if own or entry.source is None else {}
        return {**said, "tool_calls": calls, **sent_back(stored, whole=own)}
    return said if is_said(entry) else None
