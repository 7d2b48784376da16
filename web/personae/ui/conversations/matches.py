"""What a query finds among conversations and in one of them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from personae.conversation.entries import Entry


def matching_conversations(
    conversations: list[dict[str, Any]], query: str, said: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Newest first; those whose title holds every word of ``query``, or whose id is in ``said``."""
    words = query.casefold().split()
    found = [
        item
        for item in conversations
        if item["id"] in said
        or all(word in str(item.get("title") or "").casefold() for word in words)
    ]
    return sorted(found, key=lambda item: -int(item.get("updatedAt") or 0))


def newest_match(entries: Sequence[Entry], query: str) -> str:
    """Id of the newest message that holds a word of ``query``, preferably all; empty: none."""
    words = query.casefold().split()
    best, most = "", 0
    for entry in entries:
        if entry.role in ("user", "assistant"):
            count = sum(word in entry.content.casefold() for word in words)
            if count and count >= most:
                best, most = entry.id, count
    return best
