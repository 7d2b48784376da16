"""Runs in the page of ``bench/sandbox.py``: times agents, and bare runtimes beside them.

Each public function takes JSON text and answers JSON text: milliseconds for one, by name.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import js
from personae.browser.clock import BrowserClock
from personae.browser.sandbox import FrameSandbox
from personae.browser.wake import wake
from personae.package.model import AgentProgram, Manifest
from personae.sandbox.process import AgentProcess, StoreText
from personae.written import Written
from pyodide.ffi import create_once_callable, to_js

wake()  # as the player's interpreter does

ASSETS = SimpleNamespace(sandbox="assets/sandbox/", pyodide="pyodide/")

SOURCES = {
    "javascript": """
        export function empty() {}
        export function look(store) { return String(store.items.length); }
        export function change(store) { store.items[0].n += 1; }
    """,
    "lua": """
        function empty() end
        function look(store) return tostring(#store.items) end
        function change(store) store.items[1].n = store.items[1].n + 1 end
    """,
    "python": """
def empty(): pass
def look(store): return str(len(store["items"]))
def change(store): store["items"][0]["n"] += 1
""",
}
SOURCES["typescript"] = SOURCES["javascript"].replace("(store)", "(store: { items: any[] })")


async def serve(method: str, arguments: Any) -> Any:
    raise AssertionError("the benched agents ask for nothing")


def notice(*values: Any) -> None:
    pass


class Echo:
    """A worker in the real frame that sends every text back, driven like an agent's."""

    async def open(self) -> None:
        self._wire = await FrameSandbox(echo_assets()).open("javascript", self._heard)

    async def round_trip(self, text: str) -> str:
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._wire.post(text)
        return await self._answer

    def _heard(self, text: str, store: str | None) -> None:
        self._answer.set_result(text)


def echo_assets() -> SimpleNamespace:
    return SimpleNamespace(sandbox="echo/", pyodide="pyodide/")


sandbox = FrameSandbox(ASSETS)
kept: dict[str, AgentProcess] = {}
state: dict[str, Any] = {}


async def prepare(text: str) -> str:
    """Starts what later figures use; the runtimes are loaded after it."""
    state["echo"] = Echo()
    await state["echo"].open()
    sandbox.most_python_workers = 100  # none is to end while others are measured
    for language in json.loads(text)["languages"]:
        kept[language] = process(language, sandbox)
        await kept[language].start()
    return "{}"


async def first_start(text: str) -> str:
    """A frame of its own: fetching from the cache, compiling, booting, loading the agent."""
    fresh = FrameSandbox(ASSETS)
    started = time.perf_counter()
    await process(json.loads(text)["language"], fresh).start()
    elapsed = time.perf_counter() - started
    fresh.close()
    return answer(elapsed)


async def next_start(text: str) -> str:
    """``together`` agents, at the same time, where one of the language runs already."""
    spec = json.loads(text)
    others = [process(spec["language"], sandbox) for _ in range(spec["together"])]
    started = time.perf_counter()
    await asyncio.gather(*(other.start() for other in others))
    elapsed = time.perf_counter() - started
    for other in others:
        other.close()
    return answer(elapsed)


async def bare_start(text: str) -> str:
    """``together`` plain workers, at the same time."""
    spec = json.loads(text)
    started = time.perf_counter()
    workers = await asyncio.gather(*(plain(spec["language"]) for _ in range(spec["together"])))
    elapsed = time.perf_counter() - started
    for worker in workers:
        worker.terminate()
    return answer(elapsed)


async def plain(runtime: str) -> Any:
    """A plain worker with the runtime in it, once that runs."""
    base = js.URL.new(".", js.location.href).href
    module = to_js({"type": "module"}, dict_converter=js.Object.fromEntries)
    worker = js.Worker.new("bare.js", module)
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    worker.onmessage = create_once_callable(lambda event: ready.set_result(None))
    message = {"runtime": runtime, "base": base}
    worker.postMessage(to_js(message, dict_converter=js.Object.fromEntries))
    await ready
    return worker


async def call(text: str) -> str:
    """``function`` with a store of about ``size`` bytes, the same before every call.

    ``bare`` is the message of an empty call, as it is, sent and sent back.
    """
    spec = json.loads(text)
    agent, store = kept[spec["language"]], StoreText(0, store_text(spec["size"]))
    first = await agent.call(
        "empty", Written("[]"), context={}, store=store, serve=serve, verbatim=True
    )
    current = [store, first.store]

    async def once() -> None:
        outcome = await agent.call(
            spec["function"],
            Written("[]"),
            context={},
            store=current[1] or current[0],
            serve=serve,
            verbatim=True,
        )
        current[1] = outcome.store or current[1]

    fields = {"call": 12, "function": "empty", "verbatim": True}
    message = json.dumps({"type": "call", **fields}, separators=(",", ":")) + "\n[{}]"

    async def bare() -> None:
        await state["echo"].round_trip(message)

    return await timed(spec["times"], ms=once, bare=bare)


def process(language: Any, in_sandbox: FrameSandbox) -> AgentProcess:
    handlers = ("empty", "look", "change")
    manifest = Manifest(agent=language, commands=tuple(map(command, handlers)))
    program = AgentProgram(language, f"agents/{language}", language, SOURCES[language], manifest)
    return AgentProcess(program, in_sandbox, BrowserClock(), notice)


def command(handler: str) -> Any:
    return SimpleNamespace(name=handler, handler=handler)


def store_text(size: int) -> str:
    item = {"n": 1, "name": "an item of the store", "tags": ["a", "b"], "note": "lorem ipsum " * 10}
    count = max(1, size // len(json.dumps(item)))
    return json.dumps({"items": [item] * count}, separators=(",", ":"))


async def timed(times: int, **runs: Callable[[], Awaitable[Any]]) -> str:
    """Milliseconds of each: the lower quartile of ten parts, taken in turn.

    What others take of the machine is in the upper ones. In turn, because processors that were
    asleep are slower to wake.
    """
    parts: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(10):
        for name, run in runs.items():
            await run()
            started = time.perf_counter()
            for _ in range(times // 10):
                await run()
            parts[name].append((time.perf_counter() - started) / (times // 10) * 1000)
    return json.dumps({name: sorted(took)[2] for name, took in parts.items()})


def answer(seconds: float) -> str:
    return json.dumps({"ms": seconds * 1000})
