"""User edits of a conversation, as pure functions from entries to an ``Edit``.

Reference: Hook events, afterUserEdit. Invariants: an edit never reorders entries and never leaves
a tool result without its call; a cut keeps the results of the last call it keeps; audit entries and
summaries go only with what lies behind a cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from personae.conversation.call_numbers import last_viable, of_members
from personae.conversation.entries import Entry
from personae.conversation.turns import (
    ASIDE,
    last_message,
    newest_response,
    response,
    round_owner,
)
from personae.errors import UsageError


@dataclass(frozen=True, slots=True)
class Edit:
    """The entries after an edit, and what agents are told about it."""

    entries: tuple[Entry, ...]
    removed: tuple[Entry, ...]
    """No longer in the list."""
    changed: tuple[Entry, ...]
    """In the list, with new content or marks; by taking an edit back, also what returned."""
    lost: Mapping[str, tuple[int, ...]]
    """Member -> its toolCallIds that left the history, ascending; no member without any."""
    last_viable: int
    """The highest toolCallId that is left; 0 when none is."""


def truncate(entries: Sequence[Entry], entry_id: str) -> Edit:
    """Removes everything after the entry."""
    return edit_between(entries, entries[: cut_after(entries, position(entries, entry_id))])


def delete(entries: Sequence[Entry], entry_id: str) -> Edit:
    """Removes a message of the user, an audit entry or a summary; of a response, the whole."""
    gone = response(entries, position(entries, entry_id))
    return edit_between(entries, [entry for entry in entries if entry.id not in gone])


def reject(entries: Sequence[Entry], entry_id: str) -> Edit:
    """Marks the response an entry belongs to as unacceptable; it stays and is never sent."""
    index = position(entries, entry_id)
    if entries[index].role not in ("assistant", "tool"):
        raise UsageError("not_a_response", "Only a response can be rejected, not a user message.")
    unit = response(entries, index)
    return edit_between(entries, [e.with_(rejected=True) if e.id in unit else e for e in entries])


def change_text(entries: Sequence[Entry], entry_id: str, text: str) -> Edit:
    """Replaces what a user or assistant entry says; nothing is removed."""
    index = position(entries, entry_id)
    if entries[index].role not in ("user", "assistant"):
        raise UsageError("not_editable", "Only messages can be edited, not tool results or logs.")
    return edit_between(
        entries, [*entries[:index], _said(entries[index], text), *entries[index + 1 :]]
    )


def resubmit(entries: Sequence[Entry], entry_id: str, text: str | None = None) -> Edit:
    """Removes everything after a user message and, with ``text``, replaces what it says."""
    index = position(entries, entry_id)
    if entries[index].role != "user":
        raise UsageError("not_a_message", "Only a user message can be sent again.")
    entry = entries[index]
    return edit_between(entries, [*entries[:index], entry if text is None else _said(entry, text)])


def regenerate(entries: Sequence[Entry]) -> Edit:
    """Removes the newest response, if the last message has one; rejected ones and logs stay."""
    if last_message(entries) is None:
        raise UsageError("nothing_to_answer", "There is no user message to answer again.")
    newest = newest_response(entries)
    gone = set() if newest is None else response(entries, newest)
    return edit_between(entries, [entry for entry in entries if entry.id not in gone])


def clear(entries: Sequence[Entry]) -> Edit:
    """Removes everything."""
    return edit_between(entries, [])


def position(entries: Sequence[Entry], entry_id: str) -> int:
    """The entry's index. Raises UsageError ``unknown_entry``."""
    for index, entry in enumerate(entries):
        if entry.id == entry_id:
            return index
    raise UsageError("unknown_entry", f"This conversation has no entry {entry_id!r}.")


def cut_after(entries: Sequence[Entry], index: int) -> int:
    """Where to cut behind an entry: also behind the results that belong to its tool calls."""
    owner = round_owner(entries, index)
    wanted = {call.id for call in entries[owner].tool_calls}
    end = index + 1
    for ahead in range(owner + 1, len(entries)):
        if entries[ahead].role not in ("tool", *ASIDE):
            break
        if entries[ahead].tool_call_id in wanted:
            end = max(end, ahead + 1)
    return end


def _said(entry: Entry, text: str) -> Entry:
    return entry.with_(content=text)


def edit_between(before: Sequence[Entry], after: Sequence[Entry]) -> Edit:
    """What makes of the entries ``before`` those ``after``."""
    old = {entry.id: entry for entry in before}
    kept = {entry.id for entry in after}
    return Edit(
        entries=tuple(after),
        removed=tuple(entry for entry in before if entry.id not in kept),
        changed=tuple(entry for entry in after if entry != old.get(entry.id)),
        lost=_lost(before, after),
        last_viable=last_viable(after),
    )


def _lost(before: Sequence[Entry], after: Sequence[Entry]) -> dict[str, tuple[int, ...]]:
    left = of_members(after)
    lost = {
        member: tuple(sorted(numbers - left.get(member, set())))
        for member, numbers in of_members(before).items()
    }
    return {member: numbers for member, numbers in lost.items() if numbers}
