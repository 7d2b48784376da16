"""Loads a character package: the one way from bytes to a Package.

Reference: Loading a character package. Everything wrong is reported at once: PackageError
``package_invalid``, with every Problem in ``detail["problems"]``. A page that loads one stays
responsive; the check for authors takes the same steps at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial

from personae.package.agents.programs import load_agent
from personae.package.agents.subagents import Surroundings, load_sub_agent
from personae.package.archive.files import PackageFiles, Source, open_files
from personae.package.config import FILE, MAX_CONFIG_BYTES, SUB_AGENT, Config, read_config
from personae.package.content import Content, read_content, read_states
from personae.package.model import AgentProgram, Package
from personae.package.report import Report
from personae.package.steps import Install, Progress, Steps, run_async, with_python_package


async def load_package_async(
    source: Source, progress: Progress | None = None, install: Install | None = None
) -> Package:
    """The package in a zip file's bytes or in ``{path: bytes}``, in slices of a few milliseconds.

    Raises PackageError.
    ``progress`` gets the phase (``reading``, ``decoding``, ``agents``, ``hashing``), how much is
    done and how much there is, in bytes or files. ``install`` makes a Python package importable
    that only some characters need (``jsonschema`` or ``ruamel``), where it is not there already.
    """
    return await run_async(load_steps(source, Report()), progress, install)


def load_steps(source: Source, report: Report) -> Steps[Package]:
    """The steps of loading; every problem, warnings too, ends up in ``report``."""
    files = yield from open_files(source, report)
    config = yield from _read_config(files)
    content = yield from read_content(files, config.resolver)
    agents = yield from _agents(files, config, content)
    states = yield from read_states(files, _ids(agents, report))
    digest = yield from contents_digest(files.files)
    report.stop_on_errors()
    return _package(config, content, agents, states, digest, report)


def _read_config(files: PackageFiles) -> Steps[Config]:
    """config.json; raises PackageError only when there is nothing to go on with."""
    text = yield from files.small_text(FILE, MAX_CONFIG_BYTES)
    config = None
    if text is not None:
        config = yield from with_python_package(partial(read_config, text), files.report)
    if config is None:
        raise files.report.failure()
    return config


def _package(
    config: Config,
    content: Content,
    agents: tuple[AgentProgram, ...],
    states: Mapping[str, object],
    digest: str,
    report: Report,
) -> Package:
    return Package(
        name=config.name,
        config=config.raw,
        system_prompt=content.texts["System Prompt"],
        instructions=content.texts["Instructions"],
        description=content.texts["Description"],
        intro=content.texts["Introduction"],
        context=content.context,
        agents=agents,
        default_stores=states,
        warnings=tuple(report.warnings),
        digest=digest,
    )


def _agents(
    files: PackageFiles, config: Config, content: Content
) -> Steps[tuple[AgentProgram, ...]]:
    ids = [entry.agent_id for entry in config.agents]
    around = Surroundings(ids, content.texts["Instructions"], content.context)
    programs: list[AgentProgram] = []
    for done, entry in enumerate(config.agents):
        yield "agents", done, len(config.agents)
        if entry.implementation == SUB_AGENT and (entry.composed or entry.prompt_file):
            program = yield from load_sub_agent(entry, around, files)
        else:
            program = yield from load_agent(entry, files)
        if program is not None:
            programs.append(program)
    return tuple(programs)


def _ids(agents: tuple[AgentProgram, ...], report: Report) -> list[str]:
    """All ids, private ones too; two agents under one id would share a store."""
    private = [one for agent in agents if agent.sub_agent for one in agent.sub_agent.private]
    ids = [agent.agent_id for agent in (*agents, *private)]
    twice = [agent_id for agent_id, count in Counter(ids).items() if count > 1]
    for agent_id in twice:
        report.error(FILE, f"a private agent and another one both have the id {agent_id!r}")
    return ids


def contents_digest(files: Mapping[str, bytes]) -> Steps[str]:
    """BLAKE2b over every name and content, independent of order and of the archive.

    In a browser it takes a third of SHA-256's time.
    """
    from hashlib import blake2b

    total = blake2b(digest_size=32)
    for done, path in enumerate(sorted(files)):
        name = path.encode("utf-8", "surrogatepass")
        total.update(b"%d %d\n" % (len(name), len(files[path])) + name)
        for start in range(0, len(files[path]), 1 << 20):
            total.update(files[path][start : start + (1 << 20)])
            yield "hashing", done, len(files)
    return total.hexdigest()
