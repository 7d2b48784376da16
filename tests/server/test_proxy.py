"""The package proxy against real sockets: pinning, redirects, limits, faults."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from personae_server import fetch, proxy
from personae_server.app import create_app
from personae_server.errors import HttpError
from personae_server.fetch import Fetcher
from personae_server.guard import Guard
from personae_server.resolver import Resolver
from personae_server.settings import Settings

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

Names = dict[str, list[str]]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Scripts name resolution: a name's answers are used in turn, the last one for ever."""
    table: Names = {}
    real = socket.getaddrinfo

    def getaddrinfo(host: str, port: int, *more: Any, **options: Any) -> Any:
        answers = table.get(host)
        if answers is not None:
            host = answers.pop(0) if len(answers) > 1 else answers[0]
        return real(host, port, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return table


@asynccontextmanager
async def proxying(
    static: Path, *ports: int, networks: tuple[Any, ...] = LOOPBACK
) -> AsyncIterator[httpx.AsyncClient]:
    settings = Settings(static=static, proxy_ports=ports, proxy_networks=networks)
    async with client_of(settings) as client:
        yield client


async def fetched(static: Path, handler: Handler, path: str = "/a.zip") -> httpx.Response:
    """What the proxy answers for an upstream that behaves like ``handler``."""
    async with raw_upstream(handler) as port, proxying(static, port) as client:
        return await client.get("/proxy", params={"url": f"http://127.0.0.1:{port}{path}"})


async def broken_off(static: Path, handler: Handler) -> bytes:
    """What a client gets before the proxy breaks off, which the client has to notice."""
    got = b""
    async with raw_upstream(handler) as port:
        settings = Settings(static=static, proxy_ports=(port,), proxy_networks=LOOPBACK)
        async with serving(create_app(settings)) as base, httpx.AsyncClient(verify=False) as client:
            params = {"url": f"http://127.0.0.1:{port}/"}
            with pytest.raises(httpx.RemoteProtocolError):
                async with client.stream("GET", f"{base}/proxy", params=params) as answer:
                    async for chunk in answer.aiter_raw():
                        got += chunk
    return got


async def test_a_zip_passes_and_can_be_no_page(static: Path) -> None:
    answer = await fetched(static, answering(ZIP, Content_Type="text/html", X_Evil="1"))
    assert (answer.status_code, answer.content) == (200, ZIP)
    assert answer.headers["content-length"] == str(len(ZIP))
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "x-evil" not in answer.headers


async def test_nothing_of_the_client_is_passed_on(static: Path) -> None:
    seen: list[bytes] = []
    handler = answering(seen=seen, Set_Cookie="id=1; Path=/")
    headers = {"Cookie": "session=1", "Authorization": "Bearer k", "Referer": "https://r.example/"}
    async with raw_upstream(handler) as port, proxying(static, port) as client:
        for _ in range(2):
            url = f"http://127.0.0.1:{port}/a.zip?x=1"
            await client.get("/proxy", params={"url": url}, headers=headers)
    lines = {line.split(b":")[0].lower() for line in seen[1].split(b"\r\n")[1:] if line}
    assert lines == {b"host", b"user-agent", b"accept", b"accept-encoding", b"connection"}
    assert seen[1].startswith(b"GET /a.zip?x=1 HTTP/1.1\r\n")
    assert b"identity" in seen[1]


@pytest.mark.parametrize(
    "body", [b"<!doctype html>", b"", b"PK", b"PK\x01\x02aaaa", b"\x1f\x8b\x08"]
)
async def test_only_zips_come_out(static: Path, body: bytes) -> None:
    answer = await fetched(static, answering(body))
    assert (answer.status_code, code_of(answer)) == (502, "not_a_zip")


async def test_an_empty_archive_is_a_zip(static: Path) -> None:
    answer = await fetched(static, answering(b"PK\x05\x06" + bytes(18)))
    assert answer.status_code == 200


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oops", "206 Partial Content", "204 No"])
async def test_another_status_is_named(static: Path, status: str) -> None:
    answer = await fetched(static, answering(b"" if status == "204 No" else ZIP, status))
    assert code_of(answer) == "upstream_status"
    assert status[:3] in answer.text


async def test_a_compressed_answer_is_not_expanded(static: Path) -> None:
    answer = await fetched(static, answering(b"\x1f\x8b\x08", Content_Encoding="gzip"))
    assert code_of(answer) == "upstream_encoding"


async def test_a_private_name_is_refused_without_a_connection(static: Path) -> None:
    seen: list[bytes] = []
    connected: list[int] = []

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.append(1)
        await answering(seen=seen)(reader, writer)

    async with raw_upstream(handler) as port, proxying(static, port, networks=()) as client:
        for host in ("localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433"):
            answer = await client.get("/proxy", params={"url": f"http://{host}:{port}/"})
            assert (answer.status_code, code_of(answer)) == (403, "address_blocked")
            assert "127.0.0.1:" not in answer.text
        await asyncio.sleep(0.05)
    assert (connected, seen) == ([], [])


async def test_a_name_that_changes_its_address_is_asked_once(static: Path, names: Names) -> None:
    """The first answer is allowed, all later ones are not: the connection goes to the first."""
    names["rebind.test"] = ["127.0.0.1", "127.0.0.2"]
    allowed = (ipaddress.ip_network("127.0.0.1/32"),)
    async with (
        raw_upstream(answering(ZIP)) as port,
        proxying(static, port, networks=allowed) as client,
    ):
        first = await client.get("/proxy", params={"url": f"http://rebind.test:{port}/"})
        second = await client.get("/proxy", params={"url": f"http://rebind.test:{port}/"})
    assert first.content == ZIP
    assert code_of(second) == "address_blocked"


async def test_the_connection_itself_is_judged_again(names: Names) -> None:
    """Even if the guard's own look-up were fooled, the transport refuses the address."""
    guard = Guard(ports=(80, 9), networks=())
    fetcher = Fetcher(guard, Resolver(), 5)
    target = fetch.Target(httpx.URL("http://a.test/"), "a.test", ("127.0.0.1",))
    with pytest.raises(HttpError) as caught:
        async with fetch._as_http_errors():
            await fetcher._send(target, {})
    await fetcher.close()
    assert caught.value.code == "address_blocked"


async def test_the_next_address_is_tried_when_one_refuses(static: Path) -> None:
    guard_networks = LOOPBACK
    async with raw_upstream(answering(ZIP)) as port:
        fetcher = Fetcher(Guard(ports=(port,), networks=guard_networks), Resolver(), 5)
        url = httpx.URL(f"http://a.test:{port}/")
        response = await fetcher._send(fetch.Target(url, "a.test", ("127.0.0.9", "127.0.0.1")), {})
        assert response.status_code == 200
        await response.aclose()
        await fetcher.close()


def redirecting(*locations: str) -> Handler:
    """Answers the n-th request with the n-th location, then with a zip."""
    left = list(locations)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not left:
            return await answering(ZIP)(reader, writer)
        return await answering(b"", "302 Found", Location=left.pop(0))(reader, writer)

    return handle


@pytest.mark.parametrize("location", ["/b.zip", "b.zip?x", "//127.0.0.1:{port}/b"])
async def test_redirects_are_followed(static: Path, location: str) -> None:
    locations: list[str] = []
    async with raw_upstream(lambda r, w: handler(r, w)) as port, proxying(static, port) as client:
        locations.append(location.format(port=port))
        handler = redirecting(*locations)
        answer = await client.get("/proxy", params={"url": f"http://127.0.0.1:{port}/a/"})
    assert (answer.status_code, answer.content) == (200, ZIP)


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://10.0.0.1:{port}/", "address_blocked"),
        ("http://[::1]:{port}/", "address_blocked"),
        ("http://169.254.169.254:{port}/latest/", "address_blocked"),
        ("http://127.0.0.1:22/", "port_blocked"),
        ("http://u@127.0.0.1:{port}/", "url_invalid"),
        ("file:///etc/passwd", "url_scheme"),
        ("/\\evil.example/", "redirect_invalid"),
        ("http://[", "url_invalid"),
    ],
)
async def test_redirects_are_judged_like_the_first_url(
    static: Path, location: str, code: str
) -> None:
    async with raw_upstream(lambda r, w: handler(r, w)) as port, proxying(static, port) as client:
        handler = redirecting(location.format(port=port))
        answer = await client.get("/proxy", params={"url": f"http://127.0.0.1:{port}/"})
    assert code_of(answer) == code


async def test_endless_redirects_end(static: Path) -> None:
    answer = await fetched(static, redirecting(*["/again"] * 50))
    assert code_of(answer) == "redirect_loop"


@pytest.fixture
def authority() -> Iterator[trustme.CA]:
    yield trustme.CA()


@asynccontextmanager
async def tls_upstream(authority: trustme.CA, name: str, handler: Handler) -> AsyncIterator[int]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert(name).configure_cert(context)
    async with raw_upstream(handler, ssl=context) as port:
        yield port


@pytest.mark.parametrize(("name", "valid"), [("zips.test", True), ("other.test", False)])
async def test_the_certificate_is_checked_against_the_name(
    names: Names, authority: trustme.CA, name: str, valid: bool
) -> None:
    names["zips.test"] = ["127.0.0.1"]
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    async with tls_upstream(authority, name, answering(ZIP)) as port:
        fetcher = Fetcher(Guard(ports=(port,), networks=LOOPBACK), Resolver(), 5, verify=trust)
        got, code = b"", ""
        try:
            async with fetcher.get(
                f"https://zips.test:{port}/", lambda _: {}, "client"
            ) as upstream:
                got = b"".join([chunk async for chunk in upstream.chunks(10**6)])
        except HttpError as error:
            code = error.code
        await fetcher.close()
    assert (got, code) == ((ZIP, "") if valid else (b"", "upstream_unreachable"))


async def test_a_redirect_from_https_to_http_is_refused(
    names: Names, authority: trustme.CA
) -> None:
    names["zips.test"] = ["127.0.0.1"]
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    async with tls_upstream(authority, "zips.test", redirecting("http://zips.test/")) as port:
        fetcher = Fetcher(Guard(ports=(80, port), networks=LOOPBACK), Resolver(), 5, verify=trust)
        with pytest.raises(HttpError) as caught:
            async with fetcher.get(f"https://zips.test:{port}/", lambda _: {}, "client"):
                pass
        await fetcher.close()
    assert caught.value.code == "redirect_invalid"


async def test_a_declared_size_over_the_limit_is_refused_at_once(static: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n" + ZIP)
        await writer.drain()
        await reader.read()

    assert code_of(await fetched(static, handle)) == "too_large"


async def test_an_endless_body_is_cut(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "MAX_BYTES", 200_000)
    sent = 0

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ZIP)
        while sent < 50_000_000:
            writer.write(bytes(65_536))
            sent += 65_536
            await writer.drain()

    got = await broken_off(static, handle)
    assert len(ZIP) <= len(got) <= 200_000
    assert sent < 50_000_000


async def test_a_slow_body_is_cut(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "SECONDS", 1.5)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ZIP)
        while not writer.is_closing():  # for as long as somebody listens
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    got = await broken_off(static, handle)
    assert got.rstrip(b"x") == ZIP.rstrip(b"x")


async def test_a_body_shorter_than_declared_is_no_whole_file(static: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n" + ZIP)

    assert await broken_off(static, handle) == ZIP


async def test_a_reset_in_the_middle_is_no_whole_file(static: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ZIP)
        await writer.drain()
        await asyncio.sleep(0.05)
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.transport.abort()

    assert await broken_off(static, handle) == ZIP


@pytest.mark.parametrize("sent", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\nPK"])
async def test_a_silent_upstream_times_out(
    static: Path, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(proxy, "SECONDS", 0.2)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(sent)
        await reader.read()

    answer = await fetched(static, handle)
    assert (answer.status_code, code_of(answer)) == (504, "upstream_timeout")


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"", "upstream_failed"),
        (b"SSH-2.0-OpenSSH_9\r\n", "upstream_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: nan\r\n\r\n", "upstream_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nPK", "upstream_failed"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nPK", "upstream_failed"),
    ],
)
async def test_a_broken_upstream_is_named(static: Path, sent: bytes, code: str) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)

    answer = await fetched(static, handle)
    assert (answer.status_code, code_of(answer)) == (502, code)


async def test_a_closed_port_is_unreachable(static: Path) -> None:
    async with raw_upstream(answering()) as port:
        pass
    async with proxying(static, port) as client:
        answer = await client.get("/proxy", params={"url": f"http://127.0.0.1:{port}/"})
    assert (answer.status_code, code_of(answer)) == (502, "upstream_unreachable")


@pytest.mark.parametrize("query", ["", "?url=", "?url=http://a/&url=http://b/"])
async def test_exactly_one_url(static: Path, query: str) -> None:
    async with client_of(Settings(static=static)) as client:
        answer = await client.get(f"/proxy{query}")
    assert (answer.status_code, code_of(answer)) == (400, "url_missing")


async def test_other_sites_may_not_use_it(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        headers = {"Sec-Fetch-Site": "cross-site"}
        answer = await client.get("/proxy?url=http://127.0.0.1/", headers=headers)
    assert (answer.status_code, code_of(answer)) == (403, "cross_site")


async def test_head_sends_no_body(static: Path) -> None:
    async with raw_upstream(answering(ZIP)) as port, proxying(static, port) as client:
        answer = await client.head("/proxy", params={"url": f"http://127.0.0.1:{port}/"})
    assert (answer.status_code, answer.content) == (200, b"")
