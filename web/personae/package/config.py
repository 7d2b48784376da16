"""config.json: parsed strictly, checked as a whole, its agent entries as values.

Reference: config.json, Composed agent entries. Every wrong value is reported with its line;
nothing wrong is replaced by a default in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from personae.package.json_schema import own_schema, violations
from personae.package.json_text import JsonFault, locate, locate_children, parse, place
from personae.package.report import Report
from personae.package.resolver import Resolver, build_resolver
from personae.unicode import plain_line

FILE = "config.json"
SUB_AGENT = "studio.sub-agent"
PROMPT_SUFFIX = ".subagent.md"
MAX_CONFIG_BYTES = 1 << 20
MAX_LISTED = 100
"""Wrong values of config.json that are reported one by one."""
UNNAMED = "Unnamed character"
LONGEST_NAME = 80
"""Characters: the name stands in sentences of the player's."""


@dataclass(frozen=True, slots=True)
class AgentEntry:
    """One element of ``agents``."""

    agent_id: str
    implementation: str
    """Name of the agent file, without its extension."""
    line: int | None
    composed: bool = False
    config: Mapping[str, Any] | None = None
    """The object as written, for composed entries."""
    prompt_file: str | None = None
    """Of a sub-agent: relative to ``agents/``."""


@dataclass(frozen=True, slots=True)
class Config:
    name: str
    raw: Mapping[str, Any]
    resolver: Resolver
    agents: tuple[AgentEntry, ...]


def read_config(text: str, report: Report) -> Config | None:
    """None when there is nothing to go on with; every problem is in the report."""
    try:
        raw = parse(text)
    except JsonFault as fault:
        report.error(FILE, fault.message, *place(text, fault.offset))
        return None
    if not isinstance(raw, dict):
        report.error(FILE, "the file holds a JSON object with name, agents and fileMappings", 1, 1)
        return None
    faults = violations(raw, own_schema("config"))
    for wrong in faults[:MAX_LISTED]:
        report.error(FILE, f"{wrong.where} {wrong.message}", *place(text, locate(text, wrong.path)))
    if len(faults) > MAX_LISTED:
        report.error(FILE, f"{len(faults) - MAX_LISTED} more values are wrong")
    resolver = build_resolver(_object(raw.get("fileMappings")), text, report)
    return Config(_name(raw, report), raw, resolver, tuple(_entries(raw, text, report)))


def _name(raw: dict[str, Any], report: Report) -> str:
    name = raw.get("name")
    shown = plain_line(name, LONGEST_NAME) if isinstance(name, str) else ""
    if shown:
        return shown
    if name is None or isinstance(name, str):
        report.warning(FILE, f"the character has no name; it is shown as {UNNAMED!r}")
    return UNNAMED


def _entries(raw: dict[str, Any], text: str, report: Report) -> list[AgentEntry]:
    """The entries that are well formed; an id that is taken already is skipped with a warning."""
    listed = raw.get("agents")
    entries: dict[str, AgentEntry] = {}
    offsets = locate_children(text, ("agents",))
    for index, value in enumerate(listed if isinstance(listed, list) else []):
        line, column = place(text, offsets.get(index))
        entry = agent_entry(value, line)
        if entry is None:
            continue
        if entry.agent_id in entries:
            report.warning(
                FILE,
                f"agents[{index}] repeats the id {entry.agent_id!r}; the first entry counts",
                line,
                column,
            )
            continue
        entries[entry.agent_id] = entry
    return list(entries.values())


def agent_entry(value: Any, line: int | None) -> AgentEntry | None:
    """What one entry asks for; None when it is malformed (the schema has reported it)."""
    if isinstance(value, str) and value:
        if value.endswith(PROMPT_SUFFIX):
            name = value.removesuffix(PROMPT_SUFFIX)
            return AgentEntry(name, SUB_AGENT, line, prompt_file=value)
        return AgentEntry(value, value, line)
    fields = _object(value)
    agent_id, implementation = fields.get("id"), fields.get("implementation")
    if not (isinstance(agent_id, str) and isinstance(implementation, str)):
        return None
    prompt = fields.get("promptFile")
    if implementation.endswith(PROMPT_SUFFIX):
        implementation, prompt = SUB_AGENT, implementation
    prompt_file = prompt if isinstance(prompt, str) else None
    return AgentEntry(agent_id, implementation, line, True, fields, prompt_file)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
