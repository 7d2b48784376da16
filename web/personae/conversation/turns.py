"""Where a turn begins, and what a response is: the one place that says so.

A response is what one turn leaves: entries of one member with one cause (``reply_to``, the entry
that is answered). An entry of before causes were stored has none; it belongs to its neighbours as
far as the next message. Audit entries lie in between and belong to no response.
"""

from __future__ import annotations

from collections.abc import Sequence

from personae.conversation.entries import Entry

ASIDE = ("log", "summary")
"""The roles of what may lie between the entries of a response and is no part of it."""


def is_said(entry: Entry) -> bool:
    """Whether the entry is something a person or the character said, and still stands."""
    return entry.role in ("user", "assistant") and bool(entry.content) and not entry.rejected


def last_message(entries: Sequence[Entry]) -> int | None:
    """The index of the last user message."""
    for index in range(len(entries) - 1, -1, -1):
        if entries[index].role == "user":
            return index
    return None


def turn_start(entries: Sequence[Entry]) -> int:
    """Where the current turn begins: with the last user message, or with the conversation."""
    return last_message(entries) or 0


def newest_response(entries: Sequence[Entry]) -> int | None:
    """The index of the last entry that answers the last message, or what came after it."""
    for index in range(len(entries) - 1, -1, -1):
        if entries[index].role == "user":
            break
        if entries[index].role not in ASIDE and not entries[index].rejected:
            return index
    return None


def response(entries: Sequence[Entry], index: int) -> set[str]:
    """The ids of the response that the entry at ``index`` is part of; a message's is itself."""
    chosen = entries[index]
    if chosen.role in ("user", *ASIDE):
        return {chosen.id}
    ids = {chosen.id}
    for step in (-1, 1):
        at = index + step
        while 0 <= at < len(entries) and _goes_with(chosen, entries[at]):
            if entries[at].role not in ASIDE:
                ids.add(entries[at].id)
            at += step
    return ids


def belong_together(one: Entry, other: Entry) -> bool:
    """Whether two entries that follow one another are parts of one response."""
    return "user" not in (one.role, other.role) and _goes_with(one, other)


def round_owner(entries: Sequence[Entry], index: int) -> int:
    """The index of the assistant entry whose calls a result, or a log before one, lies among."""
    if not _among_results(entries, index):
        return index
    for at in range(index - 1, -1, -1):
        if entries[at].role == "assistant":
            return at
        if entries[at].role == "user":
            break
    return index


def _goes_with(chosen: Entry, other: Entry) -> bool:
    """Whether ``other`` is of the same response, or lies aside within it."""
    if other.role in ASIDE:
        return True
    if other.role == "user" or other.rejected != chosen.rejected or other.member != chosen.member:
        return False
    return None in (chosen.reply_to, other.reply_to) or chosen.reply_to == other.reply_to


def _among_results(entries: Sequence[Entry], index: int) -> bool:
    for entry in entries[index:]:
        if entry.role == "tool":
            return True
        if entry.role not in ASIDE:
            return False
    return False
