"""What a character's agents declare that an access granted to them rests on.

Of each agent, those of sub-agents included: the bridge namespaces it uses (``@api``), when it runs
by itself (``@hook``, ``@preload``), and which agents it may call. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from personae.package.model import AgentProgram, Package
from personae.unicode import plain_line

Declared = Mapping[str, Sequence[str]]
"""Agent id -> its lines, in order."""

MOST_NAMED = 8
_LONGEST = 60


def declared(package: Package) -> dict[str, list[str]]:
    return {program.agent_id: sorted(_lines(program)) for program in _everyone(package.agents)}


def changes(before: Declared, now: Declared) -> list[str]:
    """What differs, a sentence an agent; empty when nothing does."""
    sentences = [
        sentence
        for agent_id in sorted({*before, *now})
        if (sentence := _change(agent_id, before.get(agent_id), now.get(agent_id)))
    ]
    more = len(sentences) - MOST_NAMED
    return sentences[:MOST_NAMED] + ([f"{more} more agents have changed."] if more > 0 else [])


def _everyone(programs: Iterable[AgentProgram]) -> Iterator[AgentProgram]:
    for program in programs:
        yield program
        if program.sub_agent is not None:
            yield from _everyone(program.sub_agent.private)


def _lines(program: AgentProgram) -> Iterator[str]:
    manifest, sub_agent = program.manifest, program.sub_agent
    yield from (f"@api {name}" for name in manifest.apis)
    yield from (f"@hook {name}" for name in manifest.hooks)
    if manifest.preload:
        yield "@preload"
    if sub_agent is not None:
        granted = (*sub_agent.shared, *(own.agent_id for own in sub_agent.private))
        yield from (f"may call {agent_id}" for agent_id in granted)


def _change(agent_id: str, before: Sequence[str] | None, now: Sequence[str] | None) -> str | None:
    name = f"Agent “{plain_line(agent_id, _LONGEST)}”"
    if now is None:
        return f"{name} is gone."
    if before is None:
        return f"{name} is new ({_listed(now) or 'it declares nothing'})."
    added = [line for line in now if line not in before]
    gone = [line for line in before if line not in now]
    parts = [
        text
        for text in (
            f"now declares {_listed(added)}" if added else "",
            f"no longer declares {_listed(gone)}" if gone else "",
        )
        if text
    ]
    return f"{name} {' and '.join(parts)}." if parts else None


def _listed(lines: Sequence[str]) -> str:
    shown = [plain_line(line, _LONGEST) for line in lines[:MOST_NAMED]]
    more = len(lines) - MOST_NAMED
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
