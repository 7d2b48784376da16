"""A prompt file (``name.subagent.md``) and the overrides of its config.json entry, as one meta.

Wrong types are errors in the file they stand in; unknown keys are warnings. What neither gives
has the default of ``DEFAULTS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from personae.package.agents.front_matter import FrontMatter, FrontMatterFault, read_front_matter
from personae.package.config import FILE, AgentEntry
from personae.package.json_schema import own_schema, schema_fault, violations
from personae.package.report import Report

DEFAULTS: Mapping[str, Any] = {
    "parameters": {
        "type": "object",
        "properties": {"question": {"type": "string"}},
        "required": ["question"],
    },
    "model": "worker",
    "maxTokens": 1024,
    "maxRounds": 5,
    "history": "none",
    "context": "none",
    "shared-agents": [],
    "private-agents": [],
}
MAX_PROMPT_BYTES = 256 << 10
_WIRING = {"id", "implementation", "promptFile"}
"""Keys of an entry that are no overrides."""


@dataclass(frozen=True, slots=True)
class Prompt:
    meta: Mapping[str, Any]
    """Front matter, overrides and defaults in one."""
    body: str
    body_line: int


def read_prompt(path: str, source: str, entry: AgentEntry, report: Report) -> Prompt | None:
    """None when the prompt file or an override cannot be used (the report says why)."""
    try:
        front = read_front_matter(source)
    except FrontMatterFault as fault:
        report.error(path, str(fault), fault.line)
        return None
    errors = len(report.errors)
    _check_front(path, front, report)
    overrides = _overrides(entry, report)
    if len(report.errors) > errors:
        return None
    return Prompt({**DEFAULTS, **front.values, **overrides}, front.body, front.body_line)


def _check_front(path: str, front: FrontMatter, report: Report) -> None:
    schema = own_schema("subagent")
    for wrong in violations(front.values, schema):
        report.error(path, f"{wrong.where} {wrong.message}".strip(), front.line(wrong.path))
    for key in front.values:
        if key not in schema["properties"]:
            report.warning(path, f"the key {key!r} means nothing here", front.line((key,)))
    fault = _parameters_fault(front.values)
    if fault:
        report.error(path, f"parameters: {fault}", front.line(("parameters",)))


def _overrides(entry: AgentEntry, report: Report) -> dict[str, Any]:
    """The entry's fields that take the place of front matter."""
    if not entry.composed:
        return {}
    schema = own_schema("subagent")
    given = {key: value for key, value in (entry.config or {}).items() if key not in _WIRING}
    for key in [key for key in given if key == "name" or key not in schema["properties"]]:
        report.warning(FILE, f"{entry.agent_id}: {key!r} overrides nothing", entry.line)
        del given[key]
    for wrong in violations(given, {**schema, "required": []}):
        report.error(FILE, f"{entry.agent_id}: {wrong.where} {wrong.message}", entry.line)
    fault = _parameters_fault(given)
    if fault:
        report.error(FILE, f"{entry.agent_id}: parameters: {fault}", entry.line)
    return given


def _parameters_fault(values: Mapping[str, Any]) -> str | None:
    parameters = values.get("parameters")
    return schema_fault(parameters) if isinstance(parameters, dict) else None
