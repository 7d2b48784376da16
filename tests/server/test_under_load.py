"""Load and clients that vanish, on a small scale; ``python -m tests.server.bench`` has more."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest
from personae_server import streaming
from personae_server.app import create_app
from personae_server.settings import Settings

from tests.server.load import MIB, bed
from tests.server.neighbours import FEW, STREAMS, felt, neighbourhood
from tests.server.support import LOOPBACK, ZIP, raw_upstream, serving


async def test_beside_hostile_neighbours_streams_lose_nothing(static: Path) -> None:
    """Held against the same server when nobody attacks, so that a busy machine changes little."""
    async with neighbourhood(static) as (server, port):
        calm = await felt(server, None, port, FEW)
        attacks = ("bodies", "interim", "names", "pages")
        found = {name: await felt(server, name, port, FEW) for name in attacks}
    assert {each.tokens for each in found.values()} == {STREAMS * FEW}
    patience = 20 * max(calm.median, 0.01)
    assert [name for name, each in found.items() if each.median > patience] == []


async def test_many_downloads_pass_with_flat_memory(static: Path) -> None:
    async with bed(static) as server:
        outcome = await server.measured(40, lambda _: server.download(MIB))
        assert server.service.open == 0
    assert outcome.memory < 20, "half of what passed through was held at once"
    assert outcome.open_files <= 0


async def test_many_streams_pass_with_flat_memory(static: Path) -> None:
    async with bed(static) as server:
        await server.measured(40, lambda _: server.talk(4))
        outcome = await server.measured(40, lambda _: server.talk(4))
    # Up to 32 idle connections to the model service stay until the relay is used again.
    assert outcome.kept < 10 and outcome.open_files <= 32


async def test_clients_that_vanish_leave_nothing_open(static: Path, tmp_path: Path) -> None:
    async with bed(static, PERSONAE_CACHE=str(tmp_path / "cache")) as server:

        async def leave(number: int) -> None:
            if number % 2:
                await server.download(60 * MIB, vanish=True)
            else:
                await server.talk(100_000, vanish=True)

        outcome = await server.measured(40, leave)
        assert server.service.open == 0
    assert outcome.open_files <= 0
    assert list_of(tmp_path / "cache") == []
    assert "Traceback" not in (static.parent / "log").read_text()


def list_of(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def test_a_client_that_takes_nothing_is_let_go(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "STALLED_CLIENT_SECONDS", 0.2)
    gone = asyncio.Event()

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ZIP)
        try:
            while True:
                writer.write(bytes(65_536))
                await writer.drain()
        finally:
            gone.set()

    async with raw_upstream(endless) as port:
        settings = Settings(static=static, proxy_ports=(port,), proxy_networks=LOOPBACK)
        async with serving(create_app(settings)) as base:
            host, _, served = base.removeprefix("http://").partition(":")
            with socket.create_connection((host, int(served))) as client:
                query = (
                    f"GET /proxy?url=http://127.0.0.1:{port}/ HTTP/1.1\r\nHost: localhost\r\n\r\n"
                )
                client.sendall(query.encode())
                async with asyncio.timeout(10):
                    await gone.wait()
