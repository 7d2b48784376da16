"""Everything the player would refuse or warn about, without playing.

Made of what the player itself does (loading, and the registration of tools and commands) and of a
look at the agents' sources for what their sandbox has not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from personae.authoring.absent import warn_of_absent
from personae.authoring.disk import read_source
from personae.authoring.portable_schemas import unportable
from personae.errors import PackageError
from personae.package.load import load_steps
from personae.package.model import AgentProgram, Package, Problem
from personae.package.report import Report
from personae.package.steps import run


def check_path(path: Path) -> list[Problem]:
    """Every problem of the zip file or folder at ``path``; empty when there is none."""
    report = Report()
    source = read_source(path, report)
    if not report.errors:
        check_source(source, report)
        if not isinstance(source, Mapping):
            _warn_of_typescript(source, report)
    # What concerns the archive as a whole bears the archive's name.
    return [one if one.file else replace(one, file=path.name) for one in report.problems]


def check_source(source: bytes | Mapping[str, bytes], report: Report) -> Package | None:
    """The package when it would load; all problems are in the report."""
    from personae.tools.registry import build_registry

    try:
        package = run(load_steps(source, report))
    except PackageError:
        return None
    registry = build_registry(package)
    for warning in registry.warnings:
        report.warning(warning.file, warning.message, warning.line, warning.column)
    for program in registry.everyone():
        warn_of_absent(program, report)
        for tool in program.manifest.tools:
            for message in unportable(tool):
                report.warning(program.path, message)
    return package


def _programs(package: Package) -> Iterator[AgentProgram]:
    for program in package.agents:
        yield program
        if program.sub_agent is not None:
            yield from program.sub_agent.private


def _warn_of_typescript(archive: bytes, report: Report) -> None:
    from personae.package.archive.files import open_files

    if report.errors:
        return
    for path in run(open_files(archive, Report())).files:
        if path.startswith("agents/") and path.endswith(".ts"):
            report.warning(path, "an exported package has no TypeScript; other players skip it")
