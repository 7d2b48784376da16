"""A worker and a bridge that the tests play by hand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from personae.errors import BridgeError
from personae.package.model import AgentProgram, Manifest
from personae.ports import Language, Receive

from tests.fakes import posted

Answer = Callable[["FakeWorker", dict[str, Any], str | None], None]


class FakeWorker:
    """One started worker: what it got, and ``say`` for what it answers."""

    def __init__(self, receive: Receive, answer: Answer) -> None:
        self.receive = receive
        self.answer = answer
        self.got: list[dict[str, Any]] = []
        self.stores: list[str | None] = []
        self.ended = False

    def post(self, text: str, store: str | None = None) -> None:
        message = posted(text)
        self.got.append(message)
        self.stores.append(store)
        asyncio.get_running_loop().call_soon(self.answer, self, message, store)

    def terminate(self) -> None:
        self.ended = True

    def say(self, type_: str, store: str | None = None, **fields: Any) -> None:
        self.receive(json.dumps({"type": type_, **fields}), store)


class FakeSandbox:
    """Starts FakeWorkers that load anything; ``behave`` answers calls and replies."""

    most_python_workers = 4

    def __init__(self, behave: Answer) -> None:
        self.behave = behave
        self.workers: list[FakeWorker] = []
        self.extras: list[tuple[str, ...]] = []

    async def open(
        self, language: Language, receive: Receive, extras: Sequence[str] = ()
    ) -> FakeWorker:
        self.extras.append(tuple(extras))
        worker = FakeWorker(receive, self._answer)
        self.workers.append(worker)
        asyncio.get_running_loop().call_soon(worker.say, "ready")
        return worker

    def _answer(self, worker: FakeWorker, message: dict[str, Any], store: str | None) -> None:
        if message["type"] == "load":
            worker.say("loaded", functions=["onLoad", "onToolCall"], handlers=[])
        else:
            self.behave(worker, message, store)


class FakeBridge:
    """Remembers notices; answers requests with themselves, except for a refused file."""

    def __init__(self) -> None:
        self.notices: list[tuple[str, str, str]] = []
        self.requests: list[tuple[str, Mapping[str, Any]]] = []

    async def request(self, method: str, arguments: Mapping[str, Any]) -> Any:
        self.requests.append((method, arguments))
        if arguments.get("name") == "secret":
            raise BridgeError("refused", "not for you")
        return {"asked": dict(arguments)}

    def notice(self, program: AgentProgram, kind: str, text: str) -> None:
        self.notices.append((program.agent_id, kind, text))


def program(agent_id: str = "t.agent", apis: tuple[str, ...] = (), **fields: Any) -> AgentProgram:
    return AgentProgram(
        agent_id=agent_id,
        path=f"agents/{agent_id}.js",
        language="javascript",
        source="export function onLoad() {}",
        manifest=Manifest(agent=agent_id, apis=frozenset(apis)),
        **fields,
    )
