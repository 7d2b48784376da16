"""Packages and players for these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from personae.package.model import (
    AgentProgram,
    Command,
    Manifest,
    Package,
    SubAgent,
    ToolDefinition,
)
from personae.player.character_player import CharacterPlayer

from tests.fakes import World, breathe

Functions = Mapping[str, Callable[..., Any]]

ANYTHING = {"type": "object", "properties": {}}


def tool(name: str, parameters: Mapping[str, Any] | None = None) -> ToolDefinition:
    return ToolDefinition(name, f"Does {name}.", parameters or ANYTHING)


def agent(
    agent_id: str,
    *tools: ToolDefinition | str,
    commands: Mapping[str, str] | None = None,
    config: Mapping[str, Any] | None = None,
    sub_agent: SubAgent | None = None,
    apis: tuple[str, ...] = (),
    **manifest: Any,
) -> AgentProgram:
    """An agent program; ``commands``: name -> handler."""
    return AgentProgram(
        agent_id=agent_id,
        path=f"agents/{agent_id}.js",
        language="javascript",
        source="",
        manifest=Manifest(
            agent=agent_id,
            tools=tuple(tool(one) if isinstance(one, str) else one for one in tools),
            commands=tuple(Command(*pair) for pair in (commands or {}).items()),
            apis=frozenset(apis),
            **manifest,
        ),
        config=config or {},
        sub_agent=sub_agent,
    )


def package(*agents: AgentProgram, **fields: Any) -> Package:
    defaults: dict[str, Any] = {
        "name": "Ada",
        "config": {"name": "Ada"},
        "system_prompt": "You play a role. %%CHARACTER_INSTRUCTIONS%%",
        "instructions": "You are Ada.",
        "description": "A mathematician.",
        "intro": "",
        "context": {},
        "default_stores": {},
        "digest": "0" * 64,
    }
    return Package(agents=agents, **{**defaults, **fields})


def make_player(world: World, source: Any, **settings: Any) -> CharacterPlayer:
    given = {"base_url": "https://model.test/v1", "api_key": "k", "model": "big", **settings}
    return CharacterPlayer(source, environment=world.environment(), **given)


@asynccontextmanager
async def playing(world: World, source: Any, **settings: Any) -> AsyncIterator[CharacterPlayer]:
    """A ready player; disposed of at the end."""
    world.players += 1
    player = make_player(world, source, **settings)
    await player.ready()
    try:
        yield player
    finally:
        await player.dispose()
        world.players -= 1
        assert world.players or world.sandbox.open_workers == 0, "a worker was left behind"


def heard(player: CharacterPlayer, event: str) -> list[Any]:
    """What the player emits from now on."""
    payloads: list[Any] = []
    player.on(event, payloads.append)
    return payloads


def roles(player: CharacterPlayer) -> list[tuple[str, str]]:
    return [(entry.role, entry.content) for entry in player.entries]


__all__ = [
    "World",
    "agent",
    "breathe",
    "heard",
    "make_player",
    "package",
    "playing",
    "roles",
    "tool",
]
