"""What the server's tests share: an app client and scripted upstreams."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import httpx
import uvicorn
from personae_server.app import create_app
from personae_server.protocol import LimitedProtocol
from personae_server.serve import listen
from personae_server.settings import Settings
from starlette.types import ASGIApp
from uvicorn.server import ServerState

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
ZIP = b"PK\x03\x04" + bytes(range(256)) * 40

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def client_of(
    settings: Settings, address: str = "127.0.0.1"
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app itself, without sockets, its lifespan running."""
    app = create_app(settings)
    transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=(address, 1))
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, verify=False, base_url="http://localhost") as client,
    ):
        yield client


@asynccontextmanager
async def raw_upstream(
    handler: Handler, host: str = "127.0.0.1", **options: object
) -> AsyncIterator[int]:
    """A TCP server that answers with whatever ``handler`` writes; yields its port."""

    running: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(handle(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, host, 0, **options)  # type: ignore[arg-type]
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[str]:
    """The app behind real sockets and uvicorn's HTTP protocol; yields its URL.

    Without uvicorn's own server loop, whose pauses would make up most of the tests' time.
    """
    config = uvicorn.Config(
        app, log_level="critical", log_config=None, http=LimitedProtocol, ws="none"
    )
    config.load()
    lifespan, state = config.lifespan_class(config), ServerState()
    await lifespan.startup()
    made: Callable[..., asyncio.Protocol] = config.http_protocol_class
    protocol = partial(made, config=config, server_state=state, app_state=lifespan.state)
    listener = listen("127.0.0.1", 0)
    server = await asyncio.get_running_loop().create_server(protocol, sock=listener)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.close()
        for connection in list(state.connections):
            connection.shutdown()
        async with asyncio.timeout(5):
            while state.connections or state.tasks:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
        await lifespan.shutdown()


def answering(
    body: bytes = ZIP, status: str = "200 OK", seen: list[bytes] | None = None, **headers: str
) -> Handler:
    """A handler that sends one complete answer; requests are appended to ``seen``."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if seen is not None:
            seen.append(request)
        head = {"Content-Length": str(len(body)), "Connection": "close", **headers}
        lines = [f"HTTP/1.1 {status}", *(f"{k.replace('_', '-')}: {v}" for k, v in head.items())]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()

    return handle


def code_of(response: httpx.Response) -> str:
    """The error code of a refusal, after checking its shape."""
    assert response.headers["content-type"] == "application/json"
    error = response.json()["error"]
    assert {"code", "message"} <= set(error) <= {"code", "message", "type", "param"}
    return str(error["code"])


@contextmanager
def personae(
    static: Path, *arguments: str, module: str = "personae_server", **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The command in a process of its own: the URL it prints, and the process.

    At the end it has to stop by itself, on SIGTERM. Its log is ``log`` in the folder of ``static``.
    """
    program = [sys.executable, "-m", module, *arguments]
    variables = {"PERSONAE_STATIC": str(static), "PERSONAE_PORT": "0", **environment}
    with (static.parent / "log").open("w") as log:
        process = subprocess.Popen(
            program, env={**os.environ, **variables}, stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdout
    try:
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found, (static.parent / "log").read_text()
        yield found[0], process
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) in (0, -signal.SIGTERM)
        process.stdout.close()
