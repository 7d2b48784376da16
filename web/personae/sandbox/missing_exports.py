"""What an agent's manifest declares and its module lacks (reference: Exported functions)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from personae.package.model import AgentProgram, hook_function


def missing(program: AgentProgram, exports: Collection[str]) -> list[str]:
    """A sentence for the author about each function that will not be found when it is called."""
    return [
        f"The manifest declares {line}, but {program.path} has no function {spelled}."
        for line, name, spelled in _promised(program)
        if name not in exports
    ]


def _promised(program: AgentProgram) -> Iterator[tuple[str, str, str]]:
    """The manifest's line, the function as the contract names it, and as the language spells it."""
    manifest = program.manifest
    for tool in manifest.tools[:1]:
        yield f"@tool {tool.name}", "onToolCall", _spelled(program, "onToolCall")
    if manifest.preload:
        yield "@preload", "onLoad", _spelled(program, "onLoad")
    for event in manifest.hooks:
        name = hook_function(event)
        yield f"@hook {event}", name, _spelled(program, name)
    for command in manifest.commands:
        yield f"@command {command.name}", command.handler, command.handler


def _spelled(program: AgentProgram, name: str) -> str:
    if program.language in ("javascript", "typescript"):
        return name
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)
