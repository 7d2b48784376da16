"""Python workers are given back when there are many, the least recently used first."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from personae.sandbox.process import AgentProcess, StoreText
from personae.written import Written

from tests.fakes import FakeClock, breathe
from tests.sandbox.fakes import FakeBridge, FakeSandbox, FakeWorker, program

MOST = FakeSandbox.most_python_workers


class Rig:
    def __init__(self, language: Any = "python") -> None:
        self.sandbox = FakeSandbox(self.answer)
        self.silent = False
        self.processes = [
            AgentProcess(
                replace(program(f"t.{number}"), language=language),
                self.sandbox,
                FakeClock(),
                FakeBridge().notice,
            )
            for number in range(MOST + 1)
        ]

    def answer(self, worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if not self.silent:
            worker.say("result", call=message["call"], value="x")

    def call(self, number: int) -> Any:
        call = self.processes[number].call(
            "onLoad",
            Written("[]"),
            context={},
            store=StoreText(0, "{}"),
            serve=FakeBridge().request,
        )
        return asyncio.ensure_future(call)

    def states(self) -> list[str]:
        return [process.state for process in self.processes]


async def test_the_least_recently_used_worker_is_given_back() -> None:
    rig = Rig()
    for number in (*range(MOST), 0):
        await rig.call(number)
    await rig.call(MOST)
    assert rig.states() == ["idle", "closed", "idle", "idle", "idle"]
    assert (await rig.call(1)).value == "x"
    assert rig.states() == ["idle", "idle", "closed", "idle", "idle"]


async def test_a_worker_in_a_call_is_never_given_back() -> None:
    rig = Rig()
    for number in range(MOST):
        await rig.call(number)
    rig.silent = True
    waiting = [rig.call(0), rig.call(1)]
    await breathe()
    rig.silent = False
    await rig.call(MOST)
    assert rig.states() == ["calling", "calling", "closed", "idle", "idle"]
    for task in waiting:
        task.cancel()


async def test_light_runtimes_stay() -> None:
    rig = Rig("lua")
    for number in range(MOST + 1):
        await rig.call(number)
    assert rig.states() == ["idle"] * (MOST + 1)
