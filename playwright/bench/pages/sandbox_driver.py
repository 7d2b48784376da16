"""Runs in the page of ``bench/sandbox.py``: times agents, and bare runtimes beside them.

Each public function takes JSON text and answers JSON text: ``{"ms": milliseconds for one}``.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import js
import personae_host
from personae.browser.sandbox import FrameSandbox
from personae.package.model import AgentProgram, Manifest
from personae.player.process import AgentProcess, StoreText
from pyodide.ffi import create_proxy, to_js

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


class PageClock:
    def now(self) -> int:
        return int(time.time() * 1000)

    def monotonic(self) -> float:
        return time.perf_counter() * 1000

    async def sleep(self, milliseconds: float) -> None:
        await asyncio.sleep(milliseconds / 1000)


class NoBridge:
    async def request(self, *values: Any) -> Any:
        raise AssertionError("the benched agents ask for nothing")

    def notice(self, *values: Any) -> None:
        pass


class Echo:
    """A plain worker that sends text back."""

    def __init__(self, first: dict[str, Any] | None = None) -> None:
        channel = js.MessageChannel.new()
        self._port = channel.port1
        self._answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._proxy = create_proxy(self._heard)
        personae_host.hear(self._port, 1 << 26, self._proxy)
        module = to_js({"type": "module"}, dict_converter=js.Object.fromEntries)
        self._worker = js.Worker.new("bare.js", module)
        message = to_js(first, dict_converter=js.Object.fromEntries)
        self._worker.postMessage(message, to_js([channel.port2]))

    def _heard(self, text: Any, store: Any = None) -> None:
        self._answer.set_result(str(text.to_bytes(), "utf-8"))

    async def first_answer(self) -> str:
        return await self._answer

    async def round_trip(self, text: str) -> str:
        self._answer = asyncio.get_running_loop().create_future()
        self._port.postMessage(text)
        return await self._answer

    def close(self) -> None:
        self._worker.terminate()
        self._proxy.destroy()


sandbox = FrameSandbox(ASSETS)
kept: dict[str, AgentProcess] = {}
state: dict[str, Any] = {}


async def prepare(text: str) -> str:
    """Starts what later figures use; the runtimes are loaded after it."""
    state["echo"] = Echo()
    await state["echo"].round_trip("1")
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
    other = process(json.loads(text)["language"], sandbox)
    started = time.perf_counter()
    await other.start()
    elapsed = time.perf_counter() - started
    other.close()
    return answer(elapsed)


async def bare_start(text: str) -> str:
    base = js.URL.new(".", js.location.href).href
    started = time.perf_counter()
    worker = Echo({"runtime": json.loads(text)["language"], "base": base})
    await worker.first_answer()
    elapsed = time.perf_counter() - started
    worker.close()
    return answer(elapsed)


async def round_trip(text: str) -> str:
    spec = json.loads(text)
    message = json.dumps("x" * spec["size"])
    return await timed(spec["times"], lambda: state["echo"].round_trip(message))


async def call(text: str) -> str:
    """``function`` with a store of about ``size`` bytes, the same before every call."""
    spec = json.loads(text)
    agent, store = kept[spec["language"]], StoreText(0, store_text(spec["size"]))
    current = [store, (await agent.call("empty", [], context={}, store=store, verbatim=True)).store]

    async def once() -> None:
        outcome = await agent.call(
            spec["function"], [], context={}, store=current[1] or current[0], verbatim=True
        )
        current[1] = outcome.store or current[1]

    await once()
    return await timed(spec["times"], once)


def process(language: Any, in_sandbox: FrameSandbox) -> AgentProcess:
    handlers = ("empty", "look", "change")
    manifest = Manifest(agent=language, commands=tuple(map(command, handlers)))
    program = AgentProgram(language, f"agents/{language}", language, wrapped(language), manifest)
    return AgentProcess(program, in_sandbox, PageClock(), NoBridge())


def command(handler: str) -> Any:
    return SimpleNamespace(name=handler, handler=handler)


def wrapped(language: str) -> str:
    return SOURCES[language]


def store_text(size: int) -> str:
    item = {"n": 1, "name": "an item of the store", "tags": ["a", "b"], "note": "lorem ipsum " * 10}
    count = max(1, size // len(json.dumps(item)))
    return json.dumps({"items": [item] * count}, separators=(",", ":"))


async def timed(times: int, run: Callable[[], Awaitable[Any]]) -> str:
    started = time.perf_counter()
    for _ in range(times):
        await run()
    return answer((time.perf_counter() - started) / times)


def answer(seconds: float) -> str:
    return json.dumps({"ms": seconds * 1000})
