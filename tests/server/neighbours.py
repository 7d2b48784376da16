"""Hostile neighbours: what one client gets of the server while another one attacks it.

The attack runs in a process of its own, its upstreams included, and comes from another address of
this machine, so that the server takes it for another client.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import httpx

from tests.server.hostile import (
    CLIENT,
    OTHER,
    answering_expensively,
    chat_head,
    connection,
    interim,
    many_values,
    until,
)
from tests.server.load import Bed, bed
from tests.server.support import Handler, answering

TOKENS, FEW, STREAMS = 400, 100, 4
"""Tokens of a stream, in the bench and in a test, and streams at a time."""
BODY = many_values(2_700_000, "none")


@dataclass(frozen=True)
class Felt:
    """What the client beside the attack felt of it."""

    health: list[float]
    """Seconds of each ``/healthz``."""
    tokens: int
    """How many came in all streams together; the server lost the others."""
    attacks: int
    """How many hostile requests began meanwhile."""
    memory: float
    """MiB that the server grew by at its highest."""

    @property
    def median(self) -> float:
        return median(self.health)

    @property
    def worst(self) -> float:
        return max(self.health)


async def bodies(base: str, _: int) -> None:
    """8 MB that no offered model gets, far more work than they look."""
    async with connection(base, CLIENT) as sender:
        await sender.send(chat_head(len(BODY)) + BODY)
        await sender.answer()


async def pieces(base: str, _: int) -> None:
    """A body in pieces of a byte."""
    async with connection(base, CLIENT) as sender:
        head = chat_head(None, "Transfer-Encoding: chunked")
        await sender.send(head + b"1\r\n{\r\n" * 1_000_000)
        await sender.ended()


def fetching(path: str, url: str) -> Callable[[str, int], Awaitable[None]]:
    """Asks the server to fetch ``url``, in which {} is the upstream's port."""

    async def attack(base: str, port: int) -> None:
        transport = httpx.AsyncHTTPTransport(local_address=CLIENT, verify=False)
        async with httpx.AsyncClient(transport=transport, timeout=60) as client:
            await client.get(f"{base}{path}", params={"url": url.format(port)})

    return attack


@dataclass(frozen=True)
class Attack:
    title: str
    once: Callable[[str, int], Awaitable[None]]
    upstream: Callable[[], Handler] = answering
    at_once: int = 10


def slow_charset() -> Handler:
    body = b"<html><body>" + b"a-" * 1_000_000
    return answering(body, Content_Type="text/html; charset=punycode")


ATTACKS = {
    "bodies": Attack("large bodies", bodies),
    "pieces": Attack("bodies in pieces", pieces),
    "interim": Attack("1xx without end", fetching("proxy", "http://127.0.0.1:{}/"), interim),
    "names": Attack(
        "names that take long", fetching("proxy", "http://a.tarpit.test:{}/"), at_once=40
    ),
    "pages": Attack(
        "expensive pages", fetching("read", "http://127.0.0.1:{}/"), answering_expensively
    ),
    "charsets": Attack(
        "expensive charsets", fetching("read", "http://127.0.0.1:{}/"), slow_charset
    ),
}


def _attack(name: str, base: str, port: int, count: object) -> None:
    asyncio.run(_attacking(ATTACKS[name], base, port, count))


async def _attacking(attack: Attack, base: str, port: int, count: object) -> None:
    handler = attack.upstream()
    server = await asyncio.start_server(lambda r, w: _answer(handler, r, w), "127.0.0.1", port)

    async def again() -> None:
        while True:
            with count.get_lock():  # type: ignore[attr-defined]
                count.value += 1  # type: ignore[attr-defined]
            try:
                await attack.once(base, port)
            except (OSError, httpx.HTTPError, asyncio.IncompleteReadError):
                await asyncio.sleep(0.01)

    async with server:
        await asyncio.gather(*(again() for _ in range(attack.at_once)))


async def _answer(
    handler: Handler, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        await handler(reader, writer)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def neighbour(name: str | None, base: str, port: int) -> Iterator[Callable[[], int]]:
    """The attack ``name`` (None: nobody) going on; says how many of its requests have begun."""
    if name is None:
        yield lambda: 0
        return
    context = multiprocessing.get_context("spawn")
    count = context.Value("i", 0)
    process = context.Process(target=_attack, args=(name, base, port, count))
    process.start()
    try:
        yield lambda: count.value
    finally:
        process.terminate()
        process.join()


@asynccontextmanager
async def neighbourhood(static: Path) -> AsyncIterator[tuple[Bed, int]]:
    """A server with rates out of the way and the usual places; a port for hostile upstreams."""
    port = free_port()
    usual = {
        "PERSONAE_RELAY_MODELS": f"{TOKENS} {FEW}",
        "PERSONAE_RELAY_STREAMS": "4",
        "PERSONAE_PROXY_STREAMS": "16",
        "PERSONAE_PROXY_PORTS": str(port),
        "PERSONAE_READER": "on",
        "PERSONAE_READER_RATE": "1000000/minute",
    }
    async with bed(static, module="tests.server.slow_names", **usual) as made:
        transport = httpx.AsyncHTTPTransport(local_address=OTHER, verify=False)
        async with httpx.AsyncClient(timeout=120, transport=transport) as other:
            made.client = other
            yield made, port


async def felt(server: Bed, attack: str | None, port: int, tokens: int = TOKENS) -> Felt:
    """Streams and ``/healthz`` of one client, while another does ``attack``."""
    health: list[float] = []
    server.forget_highest()
    memory = server.memory("VmRSS")
    with neighbour(attack, server.url, port) as begun:
        if attack:
            await until(begun)
            await asyncio.sleep(1)
        before = begun()
        streams = [asyncio.create_task(server.heard(tokens)) for _ in range(STREAMS)]
        while not all(stream.done() for stream in streams):
            start = time.perf_counter()
            answer = await server.client.get(f"{server.url}healthz")
            health.append(time.perf_counter() - start)
            assert answer.status_code == 200
            await asyncio.sleep(0.02)
        heard = sum(stream.result() for stream in streams)
        grown = server.memory("VmHWM") - memory
        return Felt(health, heard, begun() - before, grown)
