"""The character's own texts: instructions, prompt template, intro, context files, default state.

Reference: The Character Package, fileMappings, Default agent state.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from personae.package.archive.files import PackageFiles
from personae.package.archive.text_file import is_binary
from personae.package.resolver import CONTENT_KEYS, CONTEXT_KEY, Resolver
from personae.package.steps import Steps

STATE_SUFFIX = ".agent.json"
MAX_STATE_BYTES = 8 << 20
"""As for any store."""


@dataclass(slots=True)
class Content:
    texts: dict[str, str] = field(default_factory=dict)
    """By fileMappings key; a file that is absent is an empty text."""
    context: dict[str, str] = field(default_factory=dict)
    """By path relative to the context folder, sorted."""


def read_content(files: PackageFiles, resolver: Resolver) -> Steps[Content]:
    content = Content()
    for key in CONTENT_KEYS:
        path = resolver.path(key)
        text = yield from files.text(path)
        content.texts[key] = text or ""
        if path not in files.files:
            _absent(files, resolver, key)
    content.context = yield from _context(files, resolver)
    return content


def read_states(files: PackageFiles, agent_ids: Iterable[str]) -> Steps[dict[str, Any]]:
    """The initial store of each agent that ships one."""
    wanted = {agent_id + STATE_SUFFIX: agent_id for agent_id in agent_ids}
    states: dict[str, Any] = {}
    for path in sorted(files.files):
        if "/" in path or not path.endswith(STATE_SUFFIX):
            continue
        if path not in wanted:
            files.report.warning(path, "no agent of this package has this id; the file is ignored")
            continue
        state = yield from files.json_object(path, MAX_STATE_BYTES)
        if state is not None:
            states[wanted[path]] = state
    return states


def _absent(files: PackageFiles, resolver: Resolver, key: str) -> None:
    path = resolver.path(key)
    if key == "Instructions" and key in resolver.mapped:
        files.report.error(path, "config.json names this file for the Instructions; it is missing")
    elif key in resolver.mapped:
        files.report.warning(path, f"config.json names this file for the {key}; it is missing")
    elif key == "Instructions":
        files.report.warning(path, "the file is missing: the character has no instructions")


def _context(files: PackageFiles, resolver: Resolver) -> Steps[dict[str, str]]:
    folder = resolver.context_folder + "/"
    paths = sorted(path for path in files.files if path.startswith(folder))
    if not paths and CONTEXT_KEY in resolver.mapped:
        files.report.warning("config.json", f"the context directory {folder} is empty or missing")
    context: dict[str, str] = {}
    for path in paths:
        if is_binary(files.files[path]):
            files.report.warning(path, "the file is no text; it is left out of the context")
            continue
        text = yield from files.text(path)
        if text is not None:
            context[path[len(folder) :]] = text
    return context
