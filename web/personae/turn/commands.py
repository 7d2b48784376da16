"""Commands that the user gives agents directly (reference: Named command handlers).

A command is run by name, with or without its ``@``, with the unparsed text after it. It is not
metered, has no toolCallId and leaves no entry but what the agent logs.
"""

from __future__ import annotations

from personae.errors import UsageError
from personae.tools.invocation import Invocation
from personae.tools.registry import Registry
from personae.turn.seat import Seat
from personae.unicode import plain
from personae.written import written


def listed(registry: Registry) -> list[dict[str, str]]:
    """``[{name, agentId, description}]`` in load order; names without ``@``."""
    return [
        {
            "name": name,
            "agentId": program.agent_id,
            "description": program.manifest.description or "",
        }
        for name, (program, _) in registry.commands.items()
    ]


async def run(seat: Seat, name: str, args: str) -> str | None:
    """None on success, else the agent's validation error. Raises UsageError, AgentError."""
    found = seat.registry.commands.get(name.removeprefix("@"))
    if found is None:
        raise UsageError("unknown_command", f"This character has no command {name!r}.")
    program, command = found
    seat.room.display.show("tools", command.name)
    try:
        problem = await seat.agents.call(
            program, command.handler, written([args]), Invocation("direct"), verbatim=True
        )
        return None if problem is None else plain(problem)
    finally:
        seat.preload.stale = True
        await seat.room.journal.save()
