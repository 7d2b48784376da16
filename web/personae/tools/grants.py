"""What a sub-agent may use of other agents (reference: Sub-agents and granted tools).

Pure look-ups: shared grants name top-level instances, private ones belong to the sub-agent alone.
Whatever does not resolve is simply not granted.
"""

from __future__ import annotations

from personae.package.model import AgentProgram
from personae.tools.registry import Registry


def granted(program: AgentProgram, registry: Registry) -> list[AgentProgram]:
    """The agents whose tools ``program`` may call: shared ones first, then its own."""
    if program.sub_agent is None:
        return []
    shared = [
        registry.programs[ref] for ref in program.sub_agent.shared if ref in registry.programs
    ]
    return [*shared, *program.sub_agent.private]


def find_granted(program: AgentProgram, registry: Registry, ref: str) -> AgentProgram | None:
    """The granted agent that ``ref`` names: a private one by short id or implementation, a shared
    one by id."""
    if program.sub_agent is None:
        return None
    for own in program.sub_agent.private:
        if ref in (short_id(program, own), implementation(own), own.agent_id):
            return own
    if ref in program.sub_agent.shared:
        return registry.programs.get(ref)
    return None


def short_id(program: AgentProgram, own: AgentProgram) -> str:
    """A private instance's id without its sub-agent's."""
    return own.agent_id.removeprefix(program.agent_id).lstrip("./:")


def implementation(own: AgentProgram) -> str:
    return str(own.config.get("implementation") or own.manifest.agent)
