"""From the entries of config.json to agent programs ready to run.

Reference: Composed agent entries, Agent languages in a package, Library files. Lookup order is
``.js``, ``.ts``, ``.py``, ``.lua``; a ``studio.`` agent that the package lacks is the player's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from personae import resources
from personae.package.agents.manifest import parse_manifest
from personae.package.archive.files import PackageFiles
from personae.package.config import AgentEntry
from personae.package.model import AgentLibrary, AgentProgram, Manifest, ToolDefinition
from personae.package.report import SHOWN
from personae.package.steps import Steps, with_python_package
from personae.ports import Language
from personae.unicode import plain

EXTENSIONS: Mapping[str, Language] = {
    ".js": "javascript",
    ".ts": "typescript",
    ".py": "python",
    ".lua": "lua",
}
BUILTIN_PREFIX = "studio."

_NAME = re.compile(r"(?![.~])[^/\\:*?\"“”<>|\x00-\x1f]+")
LONGEST_NAME = 100
"""Characters."""
_RULE = f"a name is not a path, and plain text of at most {LONGEST_NAME} characters"
_SCRIPTED = ("javascript", "typescript")
_MODULE_SYNTAX = re.compile(r"^(?:export\s+(?:default|const|function|class|\{)|import\s+\S)", re.M)


def load_agent(entry: AgentEntry, files: PackageFiles) -> Steps[AgentProgram | None]:
    """The program of one entry; None when it cannot run (the report says why)."""
    if not _safe(entry, files):
        return None
    found = yield from find_agent(entry.implementation, files)
    if found is None:
        _missing(entry, files)
        return None
    path, language, source = found
    if source is None:
        return None
    manifest = yield from with_python_package(
        lambda report: parse_manifest(path, source, language, report), files.report
    )
    if manifest is None:
        return None
    if manifest.agent != entry.implementation:
        files.report.warning(
            path, f"its @agent is {manifest.agent!r}; it is registered as {entry.agent_id!r}"
        )
    libraries = yield from _libraries(manifest, path, language, files)
    if entry.composed:
        manifest = replace(manifest, tools=instance_tools(entry.agent_id, manifest.tools))
    return AgentProgram(
        agent_id=entry.agent_id,
        path=path,
        language=language,
        source=source,
        manifest=manifest,
        libraries=libraries,
        config=entry.config or {},
    )


def find_agent(name: str, files: PackageFiles) -> Steps[tuple[str, Language, str | None] | None]:
    """Path, language and source of an agent file, the package's before the player's.

    None when there is no such file; the source is None when it is no text (reported).
    """
    for extension, language in EXTENSIONS.items():
        path = f"agents/{name}{extension}"
        if path in files.files:
            text = yield from files.text(path)
            return path, language, text
    builtin = f"builtin/{name}.js"
    if not name.startswith(BUILTIN_PREFIX) or builtin not in resources.NAMES:
        return None
    return f"agents/{name}.js", "javascript", resources.text(builtin)


def is_name(name: str) -> bool:
    """Whether an agent, library or prompt file may be called so: one path part of plain text, which
    can stand in a sentence of the player's between quotation marks."""
    return bool(_NAME.fullmatch(name)) and len(name) <= LONGEST_NAME and plain(name) == name


def instance_name(agent_id: str) -> str:
    """The tool name that an instance's id gives: ``char.cars-db`` -> ``cars_db``."""
    after_dot = agent_id.split(".", 1)[-1] or agent_id
    return re.sub(r"[^A-Za-z0-9_]", "_", after_dot)


def instance_tools(agent_id: str, tools: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
    """The tools of a composed instance under the names that its id gives."""
    name = instance_name(agent_id)
    if len(tools) == 1:
        return (replace(tools[0], name=name),)
    return tuple(replace(tool, name=f"{name}_{tool.name}") for tool in tools)


def _safe(entry: AgentEntry, files: PackageFiles) -> bool:
    for name in (entry.agent_id, entry.implementation):
        if not is_name(name):
            files.report.error(
                "config.json",
                f"the agent name {name!r} is refused: {_RULE}",
                entry.line,
            )
            return False
    return True


def _missing(entry: AgentEntry, files: PackageFiles) -> None:
    name = entry.implementation
    extensions = ", ".join(EXTENSIONS)
    hint = _near(f"agents/{name}", files)
    files.report.error(
        "config.json",
        f"there is no agents/{name} with {extensions}, and the player ships none{hint}",
        entry.line,
    )


def _near(stem: str, files: PackageFiles) -> str:
    """Names a file that differs in upper and lower case only, which some systems ignore."""
    if len(files.report.found) > SHOWN:
        return ""
    for path in files.files:
        base, _, extension = path.rpartition(".")
        if f".{extension}" in EXTENSIONS and base.lower() == stem.lower():
            return f"; {path} differs in upper and lower case"
    return ""


def _libraries(
    manifest: Manifest, path: str, language: Language, files: PackageFiles
) -> Steps[tuple[AgentLibrary, ...]]:
    if manifest.libraries and language not in _SCRIPTED:
        files.report.warning(path, "@lib is for JavaScript and TypeScript; no library is loaded")
        return ()
    found: list[AgentLibrary] = []
    for name in manifest.libraries:
        library = yield from _library(name, path, files)
        if library is not None:
            found.append(library)
    return tuple(found)


def _library(name: str, agent_path: str, files: PackageFiles) -> Steps[AgentLibrary | None]:
    if not is_name(name):
        files.report.error(agent_path, f"the @lib name {name!r} is refused: {_RULE}")
        return None
    for path in (f"agents/lib/{name}.js", f"agents/lib/{name}.min.js"):
        if path not in files.files:
            continue
        source = yield from files.text(path)
        if source and _MODULE_SYNTAX.search(source):
            files.report.warning(path, "this looks like an ES module; @lib takes IIFE or UMD files")
        return AgentLibrary(name, path, source or "")
    files.report.error(
        agent_path, f"@lib {name}: neither agents/lib/{name}.js nor {name}.min.js is there"
    )
    return None
