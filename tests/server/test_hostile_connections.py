"""Heads, bodies and answers that stand still, connections by the hundred, bodies of two ends."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from personae_server import protocol
from personae_server.app import create_app
from personae_server.serve import listen
from personae_server.settings import Settings

from tests.server.hostile import CLIENT, OTHER, chat_head, connection, relayed, until
from tests.server.support import serving


@pytest.mark.parametrize("sent", [b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: "])
async def test_a_head_that_does_not_come_ends_the_connection(
    static: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    async with serving(create_app(Settings(static=static))) as base, connection(base) as half:
        await half.send(sent)
        assert await half.ended() == b""


async def test_a_head_that_trickles_ends_the_connection(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the second one of a connection, each byte of which comes in time."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    async with serving(create_app(Settings(static=static))) as base, connection(base) as half:
        await half.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await half.answer())[0] == 200
        await half.send(b"GET /healthz HTTP/1.1\r\nX-A: ")
        end = asyncio.create_task(half.ended())
        while not end.done():
            half.writer.write(b"a")
            await asyncio.sleep(0.02)
        assert end.result() == b""


@pytest.mark.parametrize("head", ["GET /healthz", "POST /healthz", "POST /proxy"])
async def test_a_body_that_nobody_wants_ends_the_connection(
    static: Path, monkeypatch: pytest.MonkeyPatch, head: str
) -> None:
    monkeypatch.setattr(protocol, "LINGER_SECONDS", 0.5)
    async with serving(create_app(Settings(static=static))) as base, connection(base) as held:
        await held.send(
            f"{head} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n".encode()
        )
        assert (await held.answer())[0] in (200, 405)
        end = asyncio.create_task(held.ended())
        while not end.done():
            held.writer.write(b"a")
            await asyncio.sleep(0.02)
        assert end.result() == b""


async def test_a_client_has_so_many_connections(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "CONNECTIONS", 3)
    ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with (
        serving(create_app(Settings(static=static))) as base,
        connection(base) as a,
        connection(base) as b,
        connection(base) as c,
    ):
        for each in (a, b, c):
            await each.send(ask)
            assert (await each.answer())[0] == 200
        async with connection(base) as over:
            assert await over.ended() == b""
        async with connection(base, OTHER) as other:
            await other.send(ask)
            assert (await other.answer())[0] == 200
        a.writer.close()
        while True:
            async with connection(base) as again:
                again.writer.write(ask)
                if b"200 OK" in await again.reader.read(1000):
                    break
    assert protocol._open == {}


def test_nothing_small_waits_for_a_clients_word() -> None:
    with (
        listen("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as served,
    ):
        assert served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


async def test_an_operators_own_proxy_has_as_many_as_it_likes(monkeypatch: Any) -> None:
    trusted = ["10.0.0.0/8", "::1", "inner"]
    found = {a: protocol._is_trusted(a, trusted) for a in ("10.1.2.3", "::1", "127.0.0.1", None)}
    assert found == {"10.1.2.3": True, "::1": True, "127.0.0.1": False, None: False}
    assert protocol._is_trusted(None, "*") and not protocol._is_trusted("10.0.0.1", None)


async def test_a_client_that_takes_nothing_of_a_file_is_let_go(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "STALLED_CLIENT_SECONDS", 0.3)
    (static / "large.bin").write_bytes(bytes(30_000_000))
    async with serving(create_app(Settings(static=static))) as base, connection(base) as taking:
        await taking.send(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await taking.reader.read(1) == b"H"
        await until(lambda: not protocol._open[CLIENT])
        assert len(await taking.ended()) < 30_000_000


def chunked(*more: str) -> bytes:
    return chat_head(None, "Transfer-Encoding: chunked", *more)


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (chunked("Content-Length: 5") + b"0\r\n\r\n", 400, "two_lengths"),
        (chunked() + b"2\r\n{}\r\n0\r\n\r\n", 411, "length_needed"),
        (chunked().replace(b"/v1/chat/completions", b"/healthz") + b"0\r\n\r\n", 411,
         "length_needed"),
    ],
)  # fmt: skip
async def test_a_body_without_one_clear_end_is_refused_and_the_connection_closed(
    static: Path, sent: bytes, status: int, code: str
) -> None:
    hidden = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    async with relayed(static) as (service, base), connection(base) as smuggler:
        await smuggler.send(sent + hidden)
        got, headers, body = await smuggler.answer()
        assert (got, json.loads(body)["error"]["code"]) == (status, code)
        assert headers["connection"] == "close"
        assert await smuggler.ended() == b"", "what came after the body was answered"
    assert service.requests == []


async def test_bodies_in_pieces_of_a_byte_are_not_parsed(static: Path) -> None:
    seen = 0
    real = protocol.H11Protocol.data_received

    def counting(self: Any, data: bytes) -> None:
        nonlocal seen
        seen += len(data)
        real(self, data)

    async with relayed(static) as (_, base), connection(base) as sender:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(protocol.H11Protocol, "data_received", counting)
            sender.writer.write(chunked() + b"1\r\n{\r\n" * 500_000)
            await sender.ended()
    assert 0 < seen <= 2 * protocol.PIECE
