"""toolCallIds in a history (reference: The context object; Hook events, afterUserEdit).

A rejected response counts as removed, so its numbers are not in the history any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from personae.conversation.entries import Entry, ToolCall


def numbers(entries: Iterable[Entry]) -> set[int]:
    """Every toolCallId that the non-rejected entries carry, granted calls included."""
    return {number for entry in entries if not entry.rejected for number in _entry_numbers(entry)}


def of_members(entries: Iterable[Entry]) -> dict[str, set[int]]:
    """Member -> its toolCallIds, as ``numbers`` counts them."""
    found: dict[str, set[int]] = {}
    for entry in entries:
        if not entry.rejected:
            found.setdefault(entry.member, set()).update(_entry_numbers(entry))
    return found


def last_viable(entries: Iterable[Entry]) -> int:
    """The highest toolCallId of the non-rejected entries; 0 when there is none."""
    return max(numbers(entries), default=0)


def highest(entries: Iterable[Entry]) -> int:
    """The highest toolCallId of all entries, rejected ones included; 0 when there is none."""
    return max((n for entry in entries for n in _entry_numbers(entry)), default=0)


def _entry_numbers(entry: Entry) -> Iterator[int]:
    if entry.number is not None:
        yield entry.number
    for call in entry.tool_calls:
        yield from _call_numbers(call)


def _call_numbers(call: ToolCall) -> Iterator[int]:
    if call.number is not None:
        yield call.number
    for inner in call.granted:
        yield from _call_numbers(inner)
