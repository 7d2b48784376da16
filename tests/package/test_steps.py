"""The two ways of running steps, and libraries that are fetched when they are missed."""

from __future__ import annotations

import asyncio
import sys
from time import perf_counter, sleep

import pytest
from personae.package.load import load_package_async
from personae.package.model import Problem
from personae.package.report import Report
from personae.package.steps import SLICE_SECONDS, Steps, run, run_async, with_python_package


def slow(count: int) -> Steps[str]:
    for done in range(count):
        sleep(SLICE_SECONDS / 2)
        yield "working", done, count
    return "done"


async def test_both_ways_give_the_result():
    assert run(slow(2)) == "done"
    assert await run_async(slow(2)) == "done"


async def test_other_tasks_get_their_turn():
    turns: list[float] = []

    async def other() -> None:
        while True:
            turns.append(perf_counter())
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    seen: list[int] = []
    await run_async(slow(12), lambda phase, done, total: seen.append(done))
    task.cancel()
    assert len(turns) >= 5
    assert seen == sorted(seen)
    assert len(seen) < 12


def missing(name: str) -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named {name!r}", name=name)


async def test_a_missed_library_is_fetched_and_the_work_done_again():
    there: list[str] = []

    def action(report: Report) -> str:
        report.warning("a", "said once")
        if "lib" not in there:
            raise missing("lib.inner")
        return "result"

    async def install(name: str) -> None:
        there.append(name)

    report = Report()
    assert await run_async(with_python_package(action, report), install=install) == "result"
    assert there == ["lib"]
    assert report.problems == [Problem("warning", "a", "said once")]


def test_a_library_that_nobody_can_fetch_is_missed():
    def action(report: Report) -> str:
        raise missing("lib")

    with pytest.raises(ModuleNotFoundError):
        run(with_python_package(action, Report()))


async def test_a_package_names_the_libraries_it_needs(monkeypatch: pytest.MonkeyPatch):
    """A prompt file needs YAML, an unusual schema jsonschema; nothing else is asked for."""
    from tests.package.package_support import agent, package

    prompt = "---\nname: x\ndescription: d\nparameters: {type: object, oneOf: [{}]}\n---\nBody"
    odd = agent("odd", "@tool t", '@tool-params {"oneOf": [{}]}')
    config = {"name": "Ada", "agents": ["odd", "x.subagent.md"]}
    files = package(config, **{"agents__odd.js": odd, "agents__x.subagent.md": prompt})
    for name in [name for name in sys.modules if name.split(".")[0] in ("jsonschema", "ruamel")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    monkeypatch.setitem(sys.modules, "ruamel", None)
    asked: list[str] = []

    async def install(name: str) -> None:
        asked.append(name)
        monkeypatch.delitem(sys.modules, name)

    loaded = await load_package_async(files, None, install)
    assert asked == ["jsonschema", "ruamel"]
    assert [program.agent_id for program in loaded.agents] == ["odd", "x"]
