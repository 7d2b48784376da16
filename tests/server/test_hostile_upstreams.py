"""What other servers send without end or at great cost: it costs the client that asked for it."""

from __future__ import annotations

import asyncio
import codecs
import encodings.aliases
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from personae_server import heads, resolver
from personae_server.app import create_app
from personae_server.charsets import CHARSETS, known
from personae_server.extract import extract
from personae_server.fetch import Fetcher
from personae_server.guard import Guard
from personae_server.helpers import HelperFailed, Helpers
from personae_server.resolver import Resolver
from personae_server.settings import Settings

from tests.server.hostile import (
    CLIENT,
    OTHER,
    Endless,
    answering_expensively,
    interim,
    until,
)
from tests.server.support import (
    LOOPBACK,
    ZIP,
    Handler,
    answering,
    client_of,
    code_of,
    raw_upstream,
    serving,
)


@asynccontextmanager
async def clients(static: Path, *ports: int, **more: Any) -> AsyncIterator[list[httpx.AsyncClient]]:
    """Two clients of one server, by their addresses."""
    app = create_app(Settings(static=static, proxy_ports=ports, proxy_networks=LOOPBACK, **more))
    async with serving(app) as base, AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                httpx.AsyncClient(
                    base_url=base,
                    transport=httpx.AsyncHTTPTransport(local_address=address, verify=False),
                    timeout=60,
                )
            )
            for address in (CLIENT, OTHER)
        ]


@asynccontextmanager
async def proxied(static: Path, handler: Handler) -> AsyncIterator[httpx.Response]:
    async with raw_upstream(handler) as port:
        settings = Settings(static=static, proxy_ports=(port,), proxy_networks=LOOPBACK)
        async with client_of(settings) as client, asyncio.timeout(60):
            yield await client.get("/proxy", params={"url": f"http://127.0.0.1:{port}/"})


@pytest.mark.parametrize(
    "endless",
    [
        interim(),
        Endless(b"HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\n"),
        Endless(b"X: y\r\n", start=b"HTTP/1.1 200 OK\r\n"),
        Endless(b"y" * 64, start=b"HTTP/1.1 200 OK\r\nX: "),
        Endless(b"\r\n"),
    ],
)
async def test_a_head_without_end_is_given_up(static: Path, endless: Endless) -> None:
    async with proxied(static, endless) as answer:
        assert (answer.status_code, code_of(answer)) == (502, "upstream_failed")
        await endless.let_go.wait()


async def test_a_few_interim_answers_and_long_headers_pass(static: Path) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 3
    head = b"HTTP/1.1 200 OK\r\nX-Policy: " + b"p" * (heads.MAX_HEAD // 2) + b"\r\n"

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = ZIP * 100
        writer.write(hints + head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async with proxied(static, handle) as answer:
        assert answer.content == ZIP * 100


async def test_a_body_in_pieces_of_a_byte_leaves_turns_to_others() -> None:
    pieces = 20_000

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        writer.write(b"1\r\nx\r\n" * pieces + b"0\r\n\r\n")

    turns = got = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with raw_upstream(handle) as port:
        fetcher = Fetcher(Guard(ports=(port,), networks=LOOPBACK), Resolver(), 60)
        async with fetcher.get(f"http://127.0.0.1:{port}/", lambda _: {}, CLIENT) as upstream:
            other = asyncio.create_task(others())
            async for chunk in upstream.chunks(10**6):
                got += len(chunk)
            other.cancel()
        await fetcher.close()
    assert got == pieces and turns >= pieces


class Names:
    """Scripted look-ups: names in ``slow`` wait for ``go``; ``asked`` has them as they come."""

    def __init__(self) -> None:
        self.slow: set[str] = set()
        self.asked: list[str] = []
        self.go = threading.Event()

    def getaddrinfo(self, name: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        host = name.decode() if isinstance(name, bytes) else name
        if host[0].isdigit():
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port or 0))]
        self.asked.append(host)
        if host in self.slow:
            self.go.wait(60)
            raise socket.gaierror("unknown")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[Names]:
    made = Names()
    monkeypatch.setattr(socket, "getaddrinfo", made.getaddrinfo)
    yield made
    made.go.set()


async def test_one_clients_slow_names_do_not_hold_up_anothers(static: Path, names: Names) -> None:
    tarpits = [f"tarpit{number}.test" for number in range(50)]
    names.slow |= set(tarpits)
    async with (
        raw_upstream(answering(ZIP)) as port,
        clients(static, port, proxy_streams=100, proxy_rate="1000/minute") as (hostile, other),
    ):

        def get(client: httpx.AsyncClient, name: str) -> Any:
            return client.get("/proxy", params={"url": f"http://{name}:{port}/a.zip"})

        waiting = [asyncio.create_task(get(hostile, name)) for name in tarpits]
        await until(lambda: len(names.asked) == resolver.EACH)
        for _ in range(20):
            assert (await get(other, "quick.test")).content == ZIP
        assert len(set(names.asked) & names.slow) == resolver.EACH
        # What the rest of the server looks up, as the model service, stands in no line either.
        assert await asyncio.get_running_loop().getaddrinfo("quick.test", 80)
        names.go.set()
        answers = await asyncio.gather(*waiting)
    assert {code_of(answer) for answer in answers} == {"host_not_found"}


async def test_a_look_up_keeps_its_place_when_its_client_has_left(names: Names) -> None:
    names.slow.add("tarpit.test")
    looking = Resolver()
    for _ in range(resolver.EACH):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(looking.look_up("tarpit.test", 80, CLIENT), 0.05)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(looking.look_up("quick.test", 80, CLIENT), 0.05)
    assert await looking.look_up("quick.test", 80, OTHER)
    assert names.asked.count("tarpit.test") == resolver.EACH
    names.go.set()
    async with asyncio.timeout(60):
        assert await looking.look_up("quick.test", 80, CLIENT)


async def test_a_client_fetches_so_many_packages_at_a_time(static: Path) -> None:
    began, go = asyncio.Event(), asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        began.set()
        await go.wait()
        await answering(ZIP)(reader, writer)

    async with (
        raw_upstream(slow) as port,
        clients(static, port, proxy_streams=1) as (first, other),
    ):
        params = {"url": f"http://127.0.0.1:{port}/"}
        one = asyncio.create_task(first.get("/proxy", params=params))
        await began.wait()
        assert code_of(await first.get("/proxy", params=params)) == "too_many_streams"
        second = asyncio.create_task(other.get("/proxy", params=params))
        go.set()
        assert (await one).content == (await second).content == ZIP


def python_codecs() -> list[str]:
    return sorted({*encodings.aliases.aliases, *encodings.aliases.aliases.values()})


def test_the_list_of_charsets_is_of_charsets() -> None:
    for python in set(CHARSETS.values()):
        assert codecs.lookup(python)._is_text_encoding
        assert known(python) == python
    odd = ("punycode", "idna", "utf-7", "rot13", "hex", "zlib", "bz2", "base64", "uu", "quopri",
           "unicode_escape", "raw_unicode_escape", "mbcs", "undefined", "utf-32", "hz", "nope",
           "", "utf\0-8")  # fmt: skip
    assert [known(name) for name in odd] == [None] * len(odd)


@pytest.mark.parametrize("kind", ["text/plain", "text/html"])
@pytest.mark.parametrize("name", python_codecs())
def test_every_charset_that_can_be_named_reads_or_counts_as_none(name: str, kind: str) -> None:
    body = b"<html><head></head><body><p>plain words</p></body></html>" + b"\xff\xfe\0-" * 40
    found = extract(body, False, kind, name)
    found.text.encode("utf-8", "surrogatepass")


@pytest.mark.parametrize("name", ["rot13", "hex", "punycode", "idna", "zlib"])
async def test_a_page_in_what_is_no_charset_is_read(static: Path, name: str) -> None:
    async with raw_upstream(
        answering(b"plain words", Content_Type=f"text/plain; charset={name}")
    ) as port:
        settings = Settings(
            static=static, reader=True, proxy_ports=(port,), proxy_networks=LOOPBACK
        )
        async with client_of(settings) as client:
            answer = await client.get("/read", params={"url": f"http://127.0.0.1:{port}/"})
    assert (answer.status_code, answer.json()["text"]) == (200, "plain words")


@pytest.mark.parametrize(
    ("name", "python"),
    [("windows-1251", "cp1251"), ("koi8-r", "koi8-r"), ("gbk", "gb18030"), ("shift_jis", "cp932")],
)
def test_a_page_says_its_charset_in_its_markup(name: str, python: str) -> None:
    words = {"cp1251": "Привет", "koi8-r": "Привет", "gb18030": "你好", "cp932": "こんにちは"}
    page = f'<html><head><meta charset="{name}"><title>{words[python]}</title></head>'
    page += "<body><p>and some more of it</p></body></html>"
    assert extract(page.encode(python), False, "text/html", None).title == words[python]
    # The header comes before the markup.
    assert extract(page.encode("utf-8"), False, "text/html", "utf-8").title == words[python]


async def test_one_clients_pages_do_not_hold_up_anothers(static: Path) -> None:
    """Twice as many expensive pages as there are helpers; the other's page is read amid them."""
    async with (
        raw_upstream(answering_expensively()) as expensive,
        raw_upstream(answering(b"plain words", Content_Type="text/plain")) as plain,
        clients(static, expensive, plain, reader=True) as (hostile, other),
    ):

        def read(client: httpx.AsyncClient, port: int) -> Any:
            return client.get("/read", params={"url": f"http://127.0.0.1:{port}/"})

        waiting = [asyncio.create_task(read(hostile, expensive)) for _ in range(4)]
        answer = await read(other, plain)
        assert answer.json()["text"] == "plain words"
        assert not all(task.done() for task in waiting), "the other client stood in this one's line"
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_waiting_for_a_helper_takes_nothing_of_its_time() -> None:
    """What can be done in its time is done, however much stands before it in its client's line."""
    helpers = Helpers()
    start = asyncio.get_running_loop().time()
    await helpers.run(CLIENT, 60, sleep, 0.0)
    began = asyncio.get_running_loop().time() - start
    seconds = 0.3 + began
    asked = [helpers.run(CLIENT, 2 * seconds, sleep, seconds) for _ in range(3)]
    assert await asyncio.gather(*asked) == [seconds] * 3


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def odd_failure() -> None:
    raise OddFailure("a", "b")


class OddFailure(Exception):
    """One that cannot even be brought back from a helper."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one)


async def test_any_failure_of_a_helper_is_one_error() -> None:
    for _ in range(2):
        with pytest.raises(HelperFailed):
            await Helpers().run(CLIENT, 60, odd_failure)
