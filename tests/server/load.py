"""Many clients at once against the server as a process: scenarios for the bench and the tests."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from tests.server.support import ZIP, personae, serving

MIB = 2**20
BLOCK = bytes(64 * 1024)


@dataclass(frozen=True)
class Outcome:
    """What one scenario did to the server."""

    done: int
    seconds: float
    memory: float
    """MiB of growth of the server's resident memory at its highest."""
    kept: float
    """MiB of growth that stays after all of it."""
    open_files: int
    """File descriptors more than before."""


class Upstream:
    """Zips of any size, and a model that streams; counts what is open."""

    def __init__(self) -> None:
        self.open = 0
        self.app = Starlette(
            routes=[
                Route("/{size:int}.zip", self.package),
                Route("/v1/chat/completions", self.chat, methods=["POST"]),
            ]
        )

    async def package(self, request: Request) -> Response:
        return StreamingResponse(self._counted(self._zip(request.path_params["size"])))

    async def _zip(self, size: int) -> AsyncIterator[bytes]:
        yield ZIP
        for _ in range(size // len(BLOCK)):
            yield BLOCK
            await asyncio.sleep(0)

    async def chat(self, request: Request) -> Response:
        body = await request.json()
        events = self._counted(self._events(int(body["model"])))
        return StreamingResponse(events, media_type="text/event-stream")

    async def _events(self, count: int) -> AsyncIterator[bytes]:
        for number in range(count):
            choice = {"index": 0, "delta": {"content": f"token {number} "}}
            yield b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
            await asyncio.sleep(0.01)
        yield b"data: [DONE]\n\n"

    async def _counted(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        self.open += 1
        try:
            async for chunk in chunks:
                yield chunk
        finally:
            self.open -= 1


class Bed:
    """The server under load, its upstream, and a client without limits."""

    def __init__(self, url: str, upstream: str, service: Upstream, pid: int) -> None:
        self.url = url
        self.upstream = upstream
        self.service = service
        self.pid = pid
        self.client = httpx.AsyncClient(
            timeout=120, limits=httpx.Limits(max_connections=None, max_keepalive_connections=0)
        )

    async def measured(self, clients: int, one: Callable[[int], Awaitable[None]]) -> Outcome:
        """``clients`` times ``one`` at once, after one for warming up."""
        await one(0)
        files, before = self.files(), self.memory("VmRSS")
        self.forget_highest()
        start = time.monotonic()
        await asyncio.gather(*(one(number) for number in range(clients)))
        seconds = time.monotonic() - start
        high = self.memory("VmHWM") - before
        await self.settled(files)
        kept = self.memory("VmRSS") - before
        return Outcome(clients, seconds, high, kept, self.files() - files)

    def forget_highest(self) -> None:
        """Starts VmHWM anew."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    async def settled(self, files: int) -> None:
        """Waits a little for connections that are being closed."""
        for _ in range(100):
            if self.files() <= files and self.service.open == 0:
                return
            await asyncio.sleep(0.02)

    def memory(self, field: str) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) / 1024
        raise AssertionError(field)

    def files(self) -> int:
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    def package_url(self, size: int) -> str:
        return f"{self.url}proxy?url={self.upstream}/{size}.zip"

    async def download(self, size: int, vanish: bool = False) -> None:
        """Reads a package of about ``size`` bytes, or leaves after the first piece of it."""
        got = 0
        async with self.client.stream("GET", self.package_url(size)) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for chunk in answer.aiter_raw():
                got += len(chunk)
                if vanish:
                    return
        assert got == len(ZIP) + size // len(BLOCK) * len(BLOCK)

    async def talk(self, tokens: int, vanish: bool = False) -> None:
        """Reads a streamed answer of ``tokens`` events, or leaves after the first one."""
        heard = await self.heard(tokens, vanish)
        assert heard == tokens or vanish

    async def heard(self, tokens: int, vanish: bool = False) -> int:
        """How many of ``tokens`` events came."""
        body = {"model": str(tokens), "stream": True, "messages": []}
        path, seen = f"{self.url}v1/chat/completions", 0
        async with self.client.stream("POST", path, json=body) as answer:
            assert answer.status_code == 200, await answer.aread()
            async for line in answer.aiter_lines():
                seen += line.startswith("data: {")
                if vanish and seen:
                    break
        return seen


@asynccontextmanager
async def bed(static: Path, module: str = "personae_server", **settings: str) -> AsyncIterator[Bed]:
    """A server process whose limits are out of the way; ``module`` is what it runs."""
    service = Upstream()
    async with serving(service.app) as upstream:
        port = upstream.rpartition(":")[2]
        environment = {
            "PERSONAE_PROXY_PORTS": port,
            "PERSONAE_PROXY_NETWORKS": "127.0.0.0/8",
            "PERSONAE_PROXY_RATE": "1000000/minute",
            "PERSONAE_PROXY_STREAMS": "100000",
            "PERSONAE_RELAY_URL": f"{upstream}/v1",
            "PERSONAE_RELAY_MODELS": "*",
            "PERSONAE_RELAY_RATE": "1000000/minute",
            "PERSONAE_RELAY_TOKENS": "1000000000/day",
            "PERSONAE_RELAY_STREAMS": "100000",
            **settings,
        }
        with personae(static, module=module, **environment) as (url, process):
            made = Bed(url, upstream, service, process.pid)
            async with made.client:
                yield made
