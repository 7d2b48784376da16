"""Exports a project folder as a package (reference: fileMappings; Agent languages in a package).

The archive holds what the format names and nothing else: config.json, the content files, the
context directory, ``agents/`` and default agent states. TypeScript becomes JavaScript, built-in
agents that are used are copied in. The same folder gives the same bytes.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path

from personae.authoring.check import check_source
from personae.authoring.disk import read_source
from personae.errors import PersonaeError
from personae.package.archive.files import open_files
from personae.package.config import FILE, read_config
from personae.package.content import STATE_SUFFIX
from personae.package.model import AgentProgram, Package, Problem
from personae.package.report import Report
from personae.package.resolver import CONTENT_KEYS, Resolver
from personae.package.steps import run

Strip = Callable[[str, str], str]
"""TypeScript source and file name to JavaScript. Raises PersonaeError."""

_DATE = (1980, 1, 1, 0, 0, 0)


def pack(folder: Path, out: Path, strip: Strip | None = None) -> list[Problem]:
    """Writes the package to ``out`` unless the check finds errors; every problem is returned.

    ``strip`` defaults to the server's.
    """
    report = Report()
    source = read_source(folder, report)
    if report.errors or isinstance(source, bytes):
        if not report.errors:
            report.error(str(folder), "this is a file; pack takes a project folder")
        return report.problems
    package = check_source(source, report)
    if package is not None:
        _export(source, package, out, strip or _server_strip, report)
    return report.problems


def _export(
    source: Mapping[str, bytes], package: Package, out: Path, strip: Strip, report: Report
) -> None:
    files = dict(run(open_files(source, Report())).files)
    kept = _format_files(files, package, report)
    kept = _without_typescript(kept, strip, report)
    kept |= _builtins(package, kept)
    if report.errors:
        return
    archive = _zip(kept)
    exported = Report()
    if check_source(archive, exported) is None:
        report.add(exported)
    else:
        _write(out, archive, report)


def _format_files(files: Mapping[str, bytes], package: Package, report: Report) -> dict[str, bytes]:
    resolver = _resolver(files)
    named = {FILE, *(resolver.path(key) for key in CONTENT_KEYS)}
    named |= {f"{program.agent_id}{STATE_SUFFIX}" for program in _programs(package)}
    folders = (f"{resolver.context_folder}/", "agents/")
    kept = {path: data for path, data in files.items() if path in named or path.startswith(folders)}
    for name in sorted({path.split("/")[0] for path in files if path not in kept}):
        report.warning(name, "left out: it is no part of the package format")
    return kept


def _resolver(files: Mapping[str, bytes]) -> Resolver:
    config = read_config(files[FILE].decode("utf-8-sig"), Report())
    if config is None:
        raise AssertionError("a checked package has a readable config.json")
    return config.resolver


def _programs(package: Package) -> Iterable[AgentProgram]:
    for program in package.agents:
        yield program
        if program.sub_agent:
            yield from program.sub_agent.private


def _without_typescript(
    files: Mapping[str, bytes], strip: Strip, report: Report
) -> dict[str, bytes]:
    """Agents in JavaScript; TypeScript that is no agent (types, say) serves no player."""
    kept = {path: data for path, data in files.items() if not _is_typescript(path)}
    for path in filter(_is_typescript, files):
        target = path.removesuffix(".ts") + ".js"
        if path.endswith(".d.ts") or path.count("/") > 1 or target in kept:
            continue
        try:
            kept[target] = strip(files[path].decode("utf-8-sig"), path).encode()
        except PersonaeError as error:
            report.error(path, error.message)
    return kept


def _is_typescript(path: str) -> bool:
    return path.startswith("agents/") and path.endswith(".ts")


def _builtins(package: Package, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The player's own agents that the package uses and does not ship."""
    used = [program for program in _programs(package) if program.language == "javascript"]
    return {one.path: one.source.encode() for one in used if one.path not in files}


def _zip(files: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _DATE)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[path], zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def _write(out: Path, archive: bytes, report: Report) -> None:
    """All or nothing: a package that is there already is only replaced by a whole one."""
    partial = out.with_name(f"{out.name}.partial")
    try:
        partial.write_bytes(archive)
        partial.replace(out)
    except OSError as error:
        report.error(str(out), f"cannot be written: {error.strerror or error}")
        partial.unlink(missing_ok=True)


def _server_strip(source: str, filename: str) -> str:
    # The server is no dependency of the core: only the command line, which has it, comes here.
    from importlib import import_module

    return str(import_module("personae_server.typescript").strip(source, filename))
