"""Sub-agents: a prompt file in place of code, and the agents it may use.

Reference: Sub-agents and granted tools. The tool's description and parameters come from the
prompt file; its name from the entry's id, or from the front matter for a shorthand entry. The
runtime is ``studio.sub-agent``: the package's own where it ships one, else the player's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from personae.package.agents.macros import check_macros, expand_instructions
from personae.package.agents.programs import instance_name, load_agent
from personae.package.agents.prompt_file import MAX_PROMPT_BYTES, Prompt, read_prompt
from personae.package.archive.files import PackageFiles
from personae.package.archive.paths import UnsafeName, clean_path
from personae.package.config import FILE, SUB_AGENT, AgentEntry, agent_entry
from personae.package.model import AgentProgram, SubAgent, ToolDefinition
from personae.package.steps import Steps, with_python_package


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a sub-agent refers to in its package."""

    agent_ids: Collection[str]
    """Of all top-level entries."""
    instructions: str
    context: Mapping[str, str]


def load_sub_agent(
    entry: AgentEntry, around: Surroundings, files: PackageFiles
) -> Steps[AgentProgram | None]:
    """The program of a sub-agent entry; None when it cannot run (the report says why)."""
    runtime = yield from load_agent(replace(entry, implementation=SUB_AGENT, composed=False), files)
    found = yield from _read_prompt(entry, files)
    if found is None or runtime is None:
        return None
    path, prompt = found
    private = yield from _private(entry, prompt, files)
    shared = _shared(entry, prompt, around, files)
    body = expand_instructions(prompt.body, around.instructions)
    tool = _tool(entry, prompt)
    _check_prompt(path, prompt, tool, private, shared, around, files)
    meta = {**prompt.meta, "contextFiles": _context_files(prompt, around)}
    return replace(
        runtime,
        manifest=replace(runtime.manifest, description=tool.description, tools=(tool,)),
        config={"meta": meta, "promptBody": body},
        sub_agent=SubAgent(meta, body, shared, private),
    )


def _read_prompt(entry: AgentEntry, files: PackageFiles) -> Steps[tuple[str, Prompt] | None]:
    if entry.prompt_file is None:
        files.report.error(FILE, f"{entry.agent_id}: promptFile is missing", entry.line)
        return None
    try:
        path = "agents/" + clean_path(entry.prompt_file)
    except UnsafeName as reason:
        files.report.error(FILE, f"{entry.agent_id}: promptFile: {reason}", entry.line)
        return None
    if path not in files.files:
        files.report.error(FILE, f"{entry.agent_id}: there is no {path}", entry.line)
        return None
    source = yield from files.small_text(path, MAX_PROMPT_BYTES)
    if source is None:
        return None
    prompt = yield from with_python_package(
        lambda report: read_prompt(path, source, entry, report), files.report
    )
    return None if prompt is None else (path, prompt)


def _context_files(prompt: Prompt, around: Surroundings) -> list[str]:
    """The files that ``context`` selects: an agent cannot list the context directory itself."""
    wanted = prompt.meta["context"]
    if isinstance(wanted, list):
        return wanted
    return [] if wanted == "none" else [name for name in around.context if not _hidden(name)]


def _hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _tool(entry: AgentEntry, prompt: Prompt) -> ToolDefinition:
    name = entry.agent_id if entry.composed else prompt.meta["name"]
    parameters = {"type": "object", **prompt.meta["parameters"]}
    return ToolDefinition(instance_name(name), prompt.meta["description"], parameters)


def _private(
    entry: AgentEntry, prompt: Prompt, files: PackageFiles
) -> Steps[tuple[AgentProgram, ...]]:
    """The instances of its own, each under ``{sub-agent id}.{its id}``."""
    programs: dict[str, AgentProgram] = {}
    for value in prompt.meta["private-agents"]:
        own = agent_entry(value, entry.line)
        if own is None:
            continue
        if own.implementation == SUB_AGENT:
            message = f"{entry.agent_id}: a sub-agent cannot be private; list it in shared-agents"
            files.report.error(FILE, message, entry.line)
            continue
        program = yield from load_agent(own, files)
        if program is None:
            continue
        if own.agent_id in programs:
            message = f"{entry.agent_id}: the private agent {own.agent_id!r} is listed twice"
            files.report.warning(FILE, message, entry.line)
            continue
        agent_id = f"{entry.agent_id}.{own.agent_id}"
        programs[own.agent_id] = replace(program, agent_id=agent_id)
    return tuple(programs.values())


def _shared(
    entry: AgentEntry, prompt: Prompt, around: Surroundings, files: PackageFiles
) -> tuple[str, ...]:
    shared = tuple(dict.fromkeys(prompt.meta["shared-agents"]))
    for ref in shared:
        if ref == entry.agent_id:
            message = f"{entry.agent_id}: a sub-agent cannot share itself"
            files.report.error(FILE, message, entry.line)
        elif ref not in around.agent_ids:
            message = f"{entry.agent_id}: shared-agents names {ref!r}, which is not in agents"
            files.report.error(FILE, message, entry.line)
    return shared


def _check_prompt(
    path: str,
    prompt: Prompt,
    tool: ToolDefinition,
    private: tuple[AgentProgram, ...],
    shared: tuple[str, ...],
    around: Surroundings,
    files: PackageFiles,
) -> None:
    """Warns of what expands to nothing when the sub-agent is called."""
    wanted = prompt.meta["context"]
    for name in wanted if isinstance(wanted, list) else ():
        if name not in around.context:
            files.report.warning(path, f"context names {name!r}, which the package does not hold")
    check_macros(
        prompt.body,
        prompt.body_line,
        path,
        files.report,
        fields=tool.parameters.get("properties", {}),
        stores={*shared, *_references(private)},
    )


def _references(private: tuple[AgentProgram, ...]) -> list[str]:
    """What ``%%STORE:ref%%`` may call private agents: short id or implementation."""
    found: list[str] = []
    for program in private:
        implementation: Any = program.config.get("implementation", program.manifest.agent)
        found += [str(program.config.get("id", implementation)), str(implementation)]
    return found
