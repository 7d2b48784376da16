"""What a search field finds. Pure."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Command = dict[str, str]


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


def matching_commands(commands: list[Command], query: str) -> list[Command]:
    """Commands whose name, agent or description holds ``query``; names that start so first."""
    wanted = query.casefold().lstrip("@").strip()
    found = [
        item
        for item in commands
        if wanted in f"{item['name']} {item.get('description') or ''} {item['agentId']}".casefold()
    ]
    return sorted(found, key=lambda item: not item["name"].casefold().startswith(wanted))
