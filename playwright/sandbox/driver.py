"""The tests' hand inside the page: runs agents through the player's own classes.

Each public function takes and gives JSON text. Processes stay open between calls, by agent id.
"""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import js
from personae.browser.clock import BrowserClock
from personae.browser.sandbox import FrameSandbox
from personae.errors import AgentError, BridgeError
from personae.package.model import AgentLibrary, AgentProgram, Command, Manifest
from personae.sandbox.process import AgentProcess, StoreText
from personae.written import written


class EchoBridge:
    """Answers every request with what it was asked, and remembers notices."""

    def __init__(self) -> None:
        self.notices: list[list[str]] = []

    async def request(self, method: str, arguments: Any) -> Any:
        if arguments.get("name") == "refuse":
            raise BridgeError("refused", "the test refuses this")
        if method == "context.readFile":
            return None
        return {"method": method, "arguments": arguments}

    def notice(self, program: AgentProgram, kind: str, text: str) -> None:
        self.notices.append([program.agent_id, kind, text])


sandboxes = {
    folder: FrameSandbox(SimpleNamespace(sandbox=folder, pyodide="pyodide/"))
    for folder in ("assets/sandbox/", "rogue/")
}
bridge = EchoBridge()
processes: dict[str, AgentProcess] = {}
stores: dict[str, StoreText] = {}


def _program(spec: dict[str, Any]) -> AgentProgram:
    handlers = spec.get("handlers", [])
    manifest = Manifest(
        agent=spec["id"],
        apis=frozenset(spec.get("apis", [])),
        commands=tuple(Command(name=handler, handler=handler) for handler in handlers),
    )
    return AgentProgram(
        agent_id=spec["id"],
        path=spec.get("path", "agents/test"),
        language=spec["language"],
        source=spec["source"],
        manifest=manifest,
        libraries=tuple(
            AgentLibrary(name, f"agents/lib/{name}.js", source)
            for name, source in spec.get("libraries", {}).items()
        ),
    )


async def load(text: str) -> str:
    """Starts an agent; answers its exports and what was noticed, or the error."""
    spec = json.loads(text)
    sandbox = sandboxes[spec.get("sandbox", "assets/sandbox/")]
    process = AgentProcess(_program(spec), sandbox, BrowserClock(), bridge.notice)
    processes[spec["id"]] = process
    stores[spec["id"]] = StoreText(0, json.dumps(spec.get("store", {})))
    try:
        exports = sorted(await process.start())
        return json.dumps({"exports": exports, "notices": _taken_notices(spec["id"])})
    except AgentError as error:
        return _failure(error)


async def call(text: str) -> str:
    """Calls a function of a loaded agent; answers value, store, notices and duration."""
    spec = json.loads(text)
    process = processes[spec["id"]]
    if "store" in spec:
        stores[spec["id"]] = StoreText(0, json.dumps(spec["store"]))
    try:
        outcome = await process.call(
            spec["function"],
            written(spec.get("arguments", [])),
            verbatim=spec.get("verbatim", False),
            context=spec.get("context", {}),
            store=stores[spec["id"]],
            serve=bridge.request,
            deadline=spec.get("deadline"),
        )
    except AgentError as error:
        return _failure(error)
    if outcome.store is not None:
        stores[spec["id"]] = outcome.store
    return json.dumps(
        {
            "value": outcome.value,
            "changed": outcome.store is not None,
            "store": stores[spec["id"]].text,
            "notices": _taken_notices(spec["id"]),
            "duration": outcome.duration,
        }
    )


async def attack(text: str) -> str:
    """A call, and meanwhile calls of another agent; answers both, and the next call's value."""
    spec = json.loads(text)
    js.longest = 0
    attacking = asyncio.ensure_future(call(text))
    await asyncio.sleep(0.02)
    meanwhile = json.loads(await call(json.dumps(spec["bystander"])))
    outcome = json.loads(await attacking)
    longest = js.longest
    follow_up = {"id": spec["id"], "function": "ping", "verbatim": True}
    following = json.loads(await call(json.dumps(follow_up)))
    return json.dumps(
        {"outcome": outcome, "meanwhile": meanwhile, "next": following, "longest": longest}
    )


async def close(text: str) -> str:
    processes.pop(json.loads(text)["id"]).close()
    return "{}"


def _failure(error: AgentError) -> str:
    return json.dumps(
        {
            "code": error.code,
            "message": error.message,
            "detail": error.detail,
            "notices": _taken_notices(error.detail["agentId"]),
        }
    )


def _taken_notices(agent_id: str) -> list[list[str]]:
    taken = [notice for notice in bridge.notices if notice[0] == agent_id]
    bridge.notices[:] = [notice for notice in bridge.notices if notice[0] != agent_id]
    return taken
