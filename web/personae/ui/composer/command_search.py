"""The commands that a query finds. Pure."""

from __future__ import annotations

Command = dict[str, str]


def matching_commands(commands: list[Command], query: str) -> list[Command]:
    """Commands whose name, agent or description holds ``query``; names that start so first."""
    wanted = query.casefold().lstrip("@").strip()
    found = [
        item
        for item in commands
        if wanted in f"{item['name']} {item.get('description') or ''} {item['agentId']}".casefold()
    ]
    return sorted(found, key=lambda item: not item["name"].casefold().startswith(wanted))
