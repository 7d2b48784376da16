"""The sandbox port in a browser: one opaque frame, one worker per agent.

Invariants: the frame is a hidden iframe with ``sandbox="allow-scripts"``, so it and its workers
have an origin of their own with no storage, and its policy refuses every connection. The page
fetches the runtime files and hands the bytes to the frame once per language. A worker's messages
come over a MessagePort of its own; nothing in them is turned into Python before its size is known.

Ownership: a FrameSandbox owns its frame and the callbacks on it, a FrameWire its port and
callback; ``close`` and ``terminate`` give everything back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import js
import personae_host
from pyodide.ffi import create_proxy, to_js

from personae.browser.convert import options_to_js
from personae.errors import AgentError
from personae.ports import Language, Receive
from personae.protocol import declarations, limit

Progress = Callable[[Language, int, int], None]
"""Language, files fetched so far, files in all: shown while a language's runtime loads."""


def _message(type_: str, **fields: Any) -> Any:
    """A message to the frame, as a JavaScript object."""
    declared = declarations("frame")[type_]
    assert declared.sender == "page" and fields.keys() == declared.names, type_
    return options_to_js({"type": type_, **fields})


def _heard(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The type and the fields of a message from the frame, which is ours like the page."""
    type_, fields = message.pop("type"), message
    declared = declarations("frame")[type_]
    problem = declared.problem(type_, fields)
    assert declared.sender == "frame" and problem is None, problem or type_
    return type_, fields


def _ignore(language: Language, done: int, total: int) -> None:
    """The default progress listener."""


class Assets(Protocol):
    """URLs of the built pieces that hold runtimes; each ends with a slash."""

    sandbox: str
    pyodide: str


class FrameSandbox:
    """Starts workers in the frame that ``assets.sandbox`` holds. See ports.Sandbox."""

    def __init__(self, assets: Assets, progress: Progress = _ignore) -> None:
        self.most_python_workers = python_workers(_device_memory())
        self._assets = assets
        self._progress = progress
        self._opening: asyncio.Task[None] | None = None
        self._prepared: dict[str, asyncio.Task[None]] = {}
        """Of languages and of extras, whose names differ."""
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._wires: dict[int, FrameWire] = {}
        self._workers = 0
        self._index: dict[str, Any] = {}
        self._frame: Any = None
        self._port: Any = None
        self._listener: Any = None

    async def open(
        self, language: Language, receive: Receive, extras: Sequence[str] = ()
    ) -> FrameWire:
        """See ports.Sandbox. The frame, a language's files and extras are set up on first use."""
        if self._opening is None:
            self._opening = asyncio.ensure_future(self._open_frame())
        await self._retryable(self._opening, self._forget_frame)
        await self._once(language, self._prepare, language)
        for extra in extras:
            await self._once(extra, self._prepare_extra, extra)
        return self._start(language, receive, extras)

    def close(self) -> None:
        """Ends every worker and removes the frame."""
        for wire in list(self._wires.values()):
            wire.terminate()
        self._forget_frame()
        self._prepared.clear()

    async def _once(
        self, name: str, prepare: Callable[[Any], Coroutine[Any, Any, None]], what: Any
    ) -> None:
        if name not in self._prepared:
            self._prepared[name] = asyncio.ensure_future(prepare(what))
        await self._retryable(self._prepared[name], lambda: self._prepared.pop(name, None))

    async def _retryable(self, task: asyncio.Task[None], forget: Callable[[], object]) -> None:
        """Waits for a shared step; when it fails, the next caller tries it again."""
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            forget()
            raise AgentError(
                "agent_runtime_unavailable",
                f"The agent runtime could not be loaded ({error}). "
                "Check the connection to this site and reload the page.",
            ) from error

    async def _open_frame(self) -> None:
        self._index = json.loads(await (await _fetch(f"{self._assets.sandbox}sandbox.json")).text())
        channel = js.MessageChannel.new()
        self._port = channel.port1
        self._listener = create_proxy(self._from_frame)
        self._port.onmessage = self._listener
        opened = self._expect("opened")
        self._frame = frame = js.document.createElement("iframe")
        frame.setAttribute("sandbox", "allow-scripts")
        frame.setAttribute("aria-hidden", "true")
        frame.hidden = True
        loaded = asyncio.Event()
        on_load = create_proxy(lambda event: loaded.set())
        frame.addEventListener("load", on_load)
        frame.src = self._assets.sandbox + self._index["frame"]
        js.document.body.appendChild(frame)
        try:
            await loaded.wait()
            frame.contentWindow.postMessage(_message("open"), "*", to_js([channel.port2]))
            await asyncio.wait_for(opened, 20)
        finally:
            frame.removeEventListener("load", on_load)
            on_load.destroy()

    def _forget_frame(self) -> None:
        self._opening = None
        if self._port is not None:
            self._port.onmessage = None
            self._port.close()
            self._listener.destroy()
        if self._frame is not None:
            self._frame.remove()
        self._port = self._frame = None

    async def _prepare(self, language: Language) -> None:
        names = self._index["languages"][language]
        files = js.Object.new()
        self._progress(language, 0, len(names))
        buffers = await asyncio.gather(
            *(_buffer(getattr(self._assets, piece) + path) for piece, path in names.values())
        )
        for name, buffer in zip(names, buffers, strict=True):
            js.Reflect.set(files, name, buffer)
        prepared = self._expect(f"prepared {language}")
        self._tell(buffers, "runtime", language=language, files=files)
        await prepared
        self._progress(language, len(names), len(names))

    async def _prepare_extra(self, extra: str) -> None:
        names = self._index["extras"][extra]
        buffers = await asyncio.gather(*(_buffer(self._assets.sandbox + name) for name in names))
        files = js.Object.new()
        for name, buffer in zip(names, buffers, strict=True):
            js.Reflect.set(files, name, buffer)
        self._tell(buffers, "extra", extra=extra, files=files)

    def _expect(self, what: str) -> asyncio.Future[None]:
        self._waiting[what] = future = asyncio.get_running_loop().create_future()
        return future

    def _start(self, language: Language, receive: Receive, extras: Sequence[str]) -> FrameWire:
        self._workers += 1
        worker = self._workers
        channel = js.MessageChannel.new()
        wire = FrameWire(channel.port1, receive, lambda: self._terminate(worker))
        self._wires[worker] = wire
        self._tell([channel.port2], "start", worker=worker, language=language, extras=extras)
        return wire

    def _terminate(self, worker: int) -> None:
        del self._wires[worker]
        self._tell([], "terminate", worker=worker)

    def _tell(self, transfer: list[Any], type_: str, **fields: Any) -> None:
        self._port.postMessage(_message(type_, **fields), to_js(transfer))

    def _from_frame(self, event: Any) -> None:
        type_, fields = _heard(event.data.to_py())
        if type_ == "broken":
            wire = self._wires.get(fields["worker"])
            if wire is not None:
                wire.broken(fields["message"])
            return
        what = " ".join((type_, *fields.values()))
        future = self._waiting.pop(what, None)
        if future is not None and not future.done():
            future.set_result(None)


class FrameWire:
    """The page's port to one worker. See ports.Wire."""

    def __init__(self, port: Any, receive: Receive, end: Callable[[], None]) -> None:
        self._port = port
        self._receive = receive
        self._end = end
        self._listener: Any = create_proxy(self._on_message)
        # Up to four bytes a character.
        personae_host.hear(port, 4 * limit("messageCharacters"), self._listener)

    def post(self, text: str, store: str | None = None) -> None:
        self._port.postMessage(text if store is None else to_js([text, store]))

    def terminate(self) -> None:
        if self._listener is None:
            return
        self._end()
        self._port.onmessage = None
        self._port.close()
        self._listener.destroy()
        self._listener = None

    def broken(self, message: str) -> None:
        """The frame saw the worker die."""
        self._receive(json.dumps({"type": "crashed", "message": message[:1000]}), None)

    def _on_message(self, text: Any, store: Any = None) -> None:
        self._receive(_decoded(text), None if store is None else _decoded(store))


def python_workers(memory: float | None) -> int:
    """How many idle ones fit in that many GiB; None: the browser does not tell."""
    if memory is None:
        return 4
    return 2 if memory < 4 else 4 if memory < 8 else 8


def _device_memory() -> float | None:
    """As browsers round it: at most 8, and only some tell."""
    memory = getattr(js.navigator, "deviceMemory", None)
    return None if memory is None else float(memory)


def _decoded(data: Any) -> str:
    """A worker's bytes as text; what is no UTF-8 becomes text that no message consists of."""
    try:
        return str(data.to_bytes(), "utf-8")
    except UnicodeDecodeError:
        return ""


async def _buffer(url: str) -> Any:
    return await (await _fetch(url)).arrayBuffer()


async def _fetch(url: str) -> Any:
    response = await js.fetch(url)
    if not response.ok:
        raise OSError(f"{url}: HTTP {response.status}")
    return response
