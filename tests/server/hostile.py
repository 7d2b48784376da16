"""What hostile clients and upstreams send, and raw connections to send it by."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from personae_server.app import create_app
from personae_server.settings import Settings

from tests.server.model_service import KEY, ModelService
from tests.server.support import Handler, answering, serving

CLIENT, OTHER = "127.0.0.2", "127.0.0.3"
"""Addresses of two clients; the whole of 127.0.0.0/8 is this machine."""


def many_values(count: int, model: str = "good") -> bytes:
    calls = b"[]," * count
    return b'{"model": "%b", "messages": [{"role": "assistant", "tool_calls": [[%b[]]]}]}' % (
        model.encode(),
        calls,
    )


MANY_VALUES = many_values(500_000)
"""JSON that is small to send and large to hold."""
EXPENSIVE_PAGE = "<html><body>" + "<div><a href='/x'>a link</a><ul><li>item</ul></div>" * 8000
"""A page that takes its reader seconds."""


@asynccontextmanager
async def relayed(static: Path, **settings: Any) -> AsyncIterator[tuple[ModelService, str]]:
    service = ModelService()
    async with serving(service.app) as upstream:
        options = {"relay_models": ("good", "slow"), "relay_key": KEY, **settings}
        app = create_app(Settings(static=static, relay_url=f"{upstream}/v1", **options))
        async with serving(app) as base:
            yield service, base


class Connection:
    """One raw connection from one address."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next answer, which has to say its length."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        body = await self.reader.readexactly(int(headers["content-length"]))
        return int(head[0].split()[1]), headers, body

    async def code(self) -> str:
        return str(json.loads((await self.answer())[2])["error"]["code"])

    async def ended(self) -> bytes:
        """Waits until the server ends the connection; what it sent until then."""
        got = bytearray()
        try:
            while data := await self.reader.read(65_536):
                got += data
        except ConnectionError:
            pass
        return bytes(got)


@asynccontextmanager
async def connection(base: str, address: str = CLIENT) -> AsyncIterator[Connection]:
    host, _, port = base.removeprefix("http://").strip("/").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(address, 0))
    try:
        async with asyncio.timeout(60):
            yield Connection(reader, writer)
    finally:
        writer.transport.abort()


async def until(condition: Callable[[], object]) -> None:
    """Waits for what happens in its own time; the connection's limit ends a wait for nothing."""
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def chat_head(length: int | None = None, *more: str) -> bytes:
    """The head of a relayed request."""
    lines = [
        "POST /v1/chat/completions HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
    ]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return "\r\n".join([*lines, *more, "", ""]).encode()


class Endless:
    """An upstream that repeats ``piece`` for as long as somebody reads."""

    def __init__(self, piece: bytes, start: bytes = b"") -> None:
        self.piece = piece * (65_536 // len(piece))
        self.start = start
        self.let_go = asyncio.Event()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.start)
        try:
            while True:
                writer.write(self.piece)
                await writer.drain()
        finally:
            self.let_go.set()


def interim() -> Endless:
    return Endless(b"HTTP/1.1 103 Early Hints\r\n\r\n")


def answering_expensively(charset: str = "utf-8") -> Handler:
    return answering(EXPENSIVE_PAGE.encode(), Content_Type=f"text/html; charset={charset}")
