"""Which agent owns which tool and command (reference: Loading a character package).

Invariants: load order is priority, the first registration of a name wins; every later one is left
out with a warning; private agents of sub-agents register nothing here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from personae.package.model import (
    AgentProgram,
    Command,
    HookEvent,
    Package,
    Problem,
    ToolDefinition,
)


@dataclass(frozen=True, slots=True)
class Registry:
    programs: dict[str, AgentProgram] = field(default_factory=dict)
    """Top-level agents by id, in load order."""
    tools: dict[str, tuple[AgentProgram, ToolDefinition]] = field(default_factory=dict)
    commands: dict[str, tuple[AgentProgram, Command]] = field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()

    def everyone(self) -> Iterator[AgentProgram]:
        """All agents in load order, private ones right behind their sub-agent."""
        for program in self.programs.values():
            yield program
            if program.sub_agent is not None:
                yield from program.sub_agent.private

    def hooked(self, event: HookEvent, *, private: bool = False) -> list[AgentProgram]:
        """The agents that declare the hook, in load order."""
        agents = self.everyone() if private else self.programs.values()
        return [program for program in agents if event in program.manifest.hooks]

    def find(self, agent_id: str) -> AgentProgram | None:
        """The agent with that id, private ones included."""
        return next((p for p in self.everyone() if p.agent_id == agent_id), None)


def build_registry(package: Package) -> Registry:
    """Registers the package's agents in load order."""
    programs: dict[str, AgentProgram] = {}
    tools: dict[str, tuple[AgentProgram, ToolDefinition]] = {}
    commands: dict[str, tuple[AgentProgram, Command]] = {}
    warnings: list[Problem] = []
    for program in package.agents:
        if program.agent_id in programs:
            warnings.append(_skipped(program, "agent", program.agent_id, program.agent_id))
            continue
        programs[program.agent_id] = program
        for tool in program.manifest.tools:
            owner = tools.setdefault(tool.name, (program, tool))[0]
            if owner is not program:
                warnings.append(_skipped(program, "tool", tool.name, owner.agent_id))
        for command in program.manifest.commands:
            holder = commands.setdefault(command.name, (program, command))[0]
            if holder is not program:
                warnings.append(_skipped(program, "command", command.name, holder.agent_id))
    return Registry(programs, tools, commands, tuple(warnings))


def _skipped(program: AgentProgram, what: str, name: str, owner: str) -> Problem:
    return Problem(
        "warning",
        program.path,
        f"The {what} {name!r} of {program.agent_id!r} is left out: {owner!r} registered it first.",
    )
