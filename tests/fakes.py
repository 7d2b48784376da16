"""Fakes of the ports (``personae.ports``) and of the environment, for tests of the core."""

from __future__ import annotations

import asyncio
import heapq
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from personae.errors import BridgeError, StorageError
from personae.player.environment import Environment
from personae.ports import Delete, HttpRequest, Key, Notice, Put, Query, Receive, Record, Table


async def breathe(times: int = 50) -> None:
    """Lets every task that can run do so."""
    for _ in range(times):
        await asyncio.sleep(0)


class FakeClock:
    """Time that passes only in ``advance``."""

    def __init__(self) -> None:
        self.time = 1_000_000.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> int:
        return int(self.time)

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, milliseconds: float) -> None:
        if milliseconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._count += 1
        heapq.heappush(self._sleepers, (self.time + milliseconds, self._count, future))
        await future

    async def advance(self, milliseconds: float) -> None:
        """Lets time pass, waking sleepers in order and letting them work."""
        end = self.time + milliseconds
        await breathe()
        while self._sleepers and self._sleepers[0][0] <= end:
            self.time, _, future = heapq.heappop(self._sleepers)
            if not future.done():
                future.set_result(None)
                await breathe()
        self.time = end
        await breathe()


class FakeStorage:
    """Records in memory. ``fault``: raised by every read or commit it names."""

    def __init__(self) -> None:
        self.tables: dict[str, dict[Key, str | bytes]] = {}
        self.read_fault: StorageError | None = None
        self.commit_fault: StorageError | None = None
        self.commits: list[list[Put | Delete]] = []
        self.on_commit: Callable[[Sequence[Put | Delete]], None] = lambda writes: None

    async def read(self, query: Query) -> list[Record]:
        await asyncio.sleep(0)
        if self.read_fault is not None:
            raise self.read_fault
        return query.among(self.tables.get(query.table, {}))

    async def keys(self, table: Table) -> list[Key]:
        await asyncio.sleep(0)
        if self.read_fault is not None:
            raise self.read_fault
        return sorted(self.tables.get(table, {}))

    async def commit(self, writes: Sequence[Put | Delete]) -> None:
        await asyncio.sleep(0)
        self.on_commit(writes)
        if self.commit_fault is not None:
            raise self.commit_fault
        self.commits.append(list(writes))
        for write in writes:
            table = self.tables.setdefault(write.table, {})
            if isinstance(write, Put):
                table[write.key] = write.value
            elif write.prefix:
                for key in [key for key in table if write.covers(key)]:
                    del table[key]
            else:
                table.pop(write.key, None)

    def json(self, table: str) -> dict[Key, Any]:
        """The table's records, parsed."""
        return {key: json.loads(value) for key, value in self.tables.get(table, {}).items()}


class FakeNotifier:
    def __init__(self) -> None:
        self.notices: list[Notice] = []

    def notify(self, notice: Notice) -> None:
        self.notices.append(notice)

    def of(self, kind: type[Notice]) -> list[Any]:
        return [notice for notice in self.notices if isinstance(notice, kind)]


class FakeResponse:
    def __init__(self, pieces: Iterable[Any], status: int = 200) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {}
        self.url = "https://model.test/v1/chat/completions"
        self.closed = False
        self._pieces = list(pieces)

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            await asyncio.sleep(0)
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            elif isinstance(piece, Exception):
                raise piece
            else:
                yield piece

    async def close(self) -> None:
        self.closed = True


class FakeTransport:
    """Answers requests from a script, first come first served; keeps the requests' bodies."""

    def __init__(self) -> None:
        self.script: list[FakeResponse | Exception] = []
        self.bodies: list[dict[str, Any]] = []
        self.on_open: Callable[[], Awaitable[None]] | None = None

    async def open(self, request: HttpRequest) -> FakeResponse:
        await asyncio.sleep(0)
        self.bodies.append(json.loads(request.body or "null"))
        if self.on_open is not None:
            await self.on_open()
        if not self.script:
            raise AssertionError(f"an unexpected request: {request.body}")
        answer = self.script.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def says(self, *pieces: Any, usage: int | None = None) -> None:
        """Scripts a streamed text; an Event among the pieces holds the stream up."""
        self.script.append(FakeResponse([*map(_piece, pieces), *_end("stop", usage)]))

    def calls(self, *calls: tuple[str, Any], text: str = "") -> None:
        """Scripts a streamed tool round; arguments are objects or raw text."""
        pieces = [_piece(text)] if text else []
        deltas = [tool_delta(index, *call) for index, call in enumerate(calls)]
        self.script.append(FakeResponse([*pieces, *deltas, *_end("tool_calls")]))

    def replies(self, text: str, *calls: tuple[str, Any], tokens: int = 10) -> None:
        """Scripts a whole reply, for a request that does not stream."""
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [_call(index, *call) for index, call in enumerate(calls)]
        whole = {
            "choices": [{"message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": tokens - 1, "completion_tokens": 1, "total_tokens": tokens},
        }
        self.script.append(FakeResponse([json.dumps(whole).encode()]))


def sse(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def tool_delta(index: int, name: str, arguments: Any) -> bytes:
    call = {"index": index, **_call(index, name, arguments)}
    return sse({"choices": [{"delta": {"tool_calls": [call]}}]})


def _call(index: int, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    return {"id": f"c{index}", "type": "function", "function": function}


def _piece(piece: Any) -> Any:
    return sse({"choices": [{"delta": {"content": piece}}]}) if isinstance(piece, str) else piece


def _end(reason: str, usage: int | None = None) -> list[bytes]:
    end = [sse({"choices": [{"delta": {}, "finish_reason": reason}]})]
    if usage is not None:
        end.append(sse({"choices": [], "usage": {"total_tokens": usage}}))
    return [*end, b"data: [DONE]\n\n"]


def posted(text: str) -> dict[str, Any]:
    """A message of the page's, with its body if it has one."""
    line, cut, body = text.partition("\n")
    message: dict[str, Any] = json.loads(line)
    return {**message, "body": json.loads(body)} if cut else message


class FakeSandbox:
    """Runs agents that are Python functions, over the real channel protocol.

    ``agents``: agent id -> {function name: function(*arguments, store, studio, context)}, plain
    or async. ``studio.request(method, *arguments)`` and ``studio.notice(kind, text)`` reach the
    player's bridge. The same agent always has the same functions, whichever worker runs it.
    """

    most_python_workers = 4

    def __init__(self, agents: Mapping[str, Mapping[str, Callable[..., Any]]]) -> None:
        self.agents = agents
        self.open_workers = 0
        self.started = 0

    async def open(self, language: str, receive: Receive, extras: Sequence[str] = ()) -> FakeWire:
        await asyncio.sleep(0)
        self.open_workers += 1
        self.started += 1
        return FakeWire(self, receive)


class FakeWire:
    def __init__(self, sandbox: FakeSandbox, receive: Receive) -> None:
        self._sandbox = sandbox
        self._receive = receive
        self._functions: Mapping[str, Callable[..., Any]] = {}
        self._store = "{}"
        self._open = True
        self._requests: dict[int, asyncio.Future[Any]] = {}
        self._task: asyncio.Task[None] | None = None
        self._call = 0
        asyncio.get_running_loop().call_soon(self._tell, {"type": "ready"})

    def post(self, text: str, store: str | None = None) -> None:
        message = posted(text)
        asyncio.get_running_loop().call_soon(self._take, message, store)

    def terminate(self) -> None:
        if self._open:
            self._open = False
            self._sandbox.open_workers -= 1
            if self._task is not None:
                self._task.cancel()

    def _take(self, message: dict[str, Any], store: str | None) -> None:
        if not self._open:
            return
        if message["type"] == "load":
            self._load(message)
        elif message["type"] == "call":
            self._store = self._store if store is None else store
            self._call = message["call"]
            self._task = asyncio.ensure_future(self._run(message))
        elif message["type"] in ("reply", "refusal"):
            self._answered(message)

    def _load(self, message: dict[str, Any]) -> None:
        self._functions = self._sandbox.agents.get(message["agentId"], {})
        functions = [name for name in message["functions"] if name in self._functions]
        handlers = [name for name in message["handlers"] if name in self._functions]
        self._tell({"type": "loaded", "functions": functions, "handlers": handlers})

    async def _run(self, message: dict[str, Any]) -> None:
        store = json.loads(self._store)
        before = json.dumps(store)
        function = self._functions.get(message["function"])
        try:
            if function is None:
                raise LookupError(message["function"])
            studio = SimpleNamespace(request=self._request, notice=self._notice)
            *arguments, context = message["body"]
            value = function(*arguments, store, studio, context)
            value = await value if inspect.isawaitable(value) else value
        except Exception as error:
            kind = "missing" if isinstance(error, LookupError) else "threw"
            self._tell(
                {"type": "error", "call": message["call"], "kind": kind, "message": str(error)}
            )
            return
        text = value if value is None or isinstance(value, str) else json.dumps(value)
        self._store = json.dumps(store)
        changed = None if self._store == before else self._store
        self._tell({"type": "result", "call": message["call"], "value": text}, changed)

    async def _request(self, method: str, *arguments: Any) -> Any:
        number = len(self._requests) + 1
        self._requests[number] = answer = asyncio.get_running_loop().create_future()
        fields = {"call": self._call, "request": number, "method": method}
        self._tell({"type": "request", **fields, "arguments": list(arguments)})
        return await answer

    def _answered(self, message: dict[str, Any]) -> None:
        answer = self._requests[message["request"]]
        if message["type"] == "reply":
            answer.set_result(message["body"])
        else:
            answer.set_exception(BridgeError(message["code"], message["message"]))

    def _notice(self, kind: str, text: str) -> None:
        self._tell({"type": "notice", "kind": kind, "text": text})

    def _tell(self, message: dict[str, Any], store: str | None = None) -> None:
        if self._open:
            self._receive(json.dumps(message), store)


class FakeLocks:
    """Web Locks that several players share."""

    def __init__(self) -> None:
        self.held: set[str] = set()

    async def lock(self, name: str) -> FakeLease | None:
        await asyncio.sleep(0)
        if name in self.held:
            return None
        self.held.add(name)
        return FakeLease(self, name)


class FakeLease:
    def __init__(self, locks: FakeLocks, name: str) -> None:
        self._locks = locks
        self._name = name

    def release(self) -> None:
        self._locks.held.discard(self._name)


class World:
    """One browser: what is shared by the players in it, and survives them."""

    def __init__(
        self, agents: Mapping[str, Mapping[str, Callable[..., Any]]] | None = None
    ) -> None:
        self.players = 0
        self.storage = FakeStorage()
        self.clock = FakeClock()
        self.notifier = FakeNotifier()
        self.transport = FakeTransport()
        self.sandbox = FakeSandbox(agents or {})
        self.locks = FakeLocks()
        self.urls: dict[str, bytes] = {}
        self.pages: dict[str, Any] | None = None
        self.installed: list[str] = []

    async def fetch_package(self, url: str, progress: Callable[..., None]) -> bytes:
        await asyncio.sleep(0)
        progress(len(self.urls[url]), len(self.urls[url]))
        return self.urls[url]

    async def install(self, library: str) -> None:
        self.installed.append(library)

    async def read_page(self, url: str, max_chars: int) -> dict[str, Any]:
        assert self.pages is not None
        page = self.pages[url]
        if isinstance(page, Exception):
            raise page
        return {**page, "maxChars": max_chars}

    def environment(self) -> Environment:
        return Environment(
            storage=self.storage,
            transport=self.transport,
            sandbox=self.sandbox,
            clock=self.clock,
            notifier=self.notifier,
            fetch_package=self.fetch_package,
            lock=self.locks.lock,
            install=self.install,
            web_reader=None if self.pages is None else self.read_page,
        )
