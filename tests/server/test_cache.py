"""The package cache: validators, bounds, sharing, and disks that fail."""

from __future__ import annotations

import asyncio
import os
import resource
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
import pytest
from personae.errors import UsageError
from personae_server import cache
from personae_server.cache import PackageCache
from personae_server.settings import Settings

from tests.server.support import LOOPBACK, ZIP, Handler, client_of, code_of, raw_upstream


class Origin:
    """A host of one package, with an ETag and If-None-Match."""

    def __init__(self, body: bytes = ZIP, etag: str = '"1"', control: str = "max-age=60") -> None:
        self.body, self.etag, self.control = body, etag, control
        self.status = "200 OK"
        self.asked: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        self.asked.append(request)
        known = f"if-none-match: {self.etag}".encode() in request.lower()
        status, body = ("304 Not Modified", b"") if known else (self.status, self.body)
        head = [f"HTTP/1.1 {status}", f"ETag: {self.etag}", f"Cache-Control: {self.control}"]
        if not known:
            head.append(f"Content-Length: {len(self.body)}")
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()


@asynccontextmanager
async def proxying(
    static: Path, folder: Path, handler: Handler, mib: int = 10
) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    async with raw_upstream(handler) as port:
        settings = Settings(
            static=static, cache=folder, cache_mib=mib,
            proxy_ports=(port,), proxy_networks=LOOPBACK,
        )  # fmt: skip
        async with client_of(settings) as client:
            yield client, f"http://127.0.0.1:{port}/a.zip"


async def test_an_unchanged_package_is_downloaded_once(static: Path, tmp_path: Path) -> None:
    origin = Origin()
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        answers = [await client.get("/proxy", params={"url": url}) for _ in range(3)]
    assert [answer.content for answer in answers] == [ZIP] * 3
    assert {answer.headers["content-length"] for answer in answers} == {str(len(ZIP))}
    assert [b'if-none-match: "1"' in asked.lower() for asked in origin.asked] == [False, True, True]


async def test_a_changed_package_is_downloaded_again(static: Path, tmp_path: Path) -> None:
    origin = Origin()
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        await client.get("/proxy", params={"url": url})
        origin.body, origin.etag = ZIP + b"new", '"2"'
        changed = await client.get("/proxy", params={"url": url})
        again = await client.get("/proxy", params={"url": url})
    assert changed.content == again.content == ZIP + b"new"
    assert len(list((tmp_path / "cache").iterdir())) == 1


async def test_it_is_never_served_without_the_origins_word(static: Path, tmp_path: Path) -> None:
    origin = Origin()
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        await client.get("/proxy", params={"url": url})
        origin.etag, origin.status = '"2"', "403 Forbidden"
        answer = await client.get("/proxy", params={"url": url})
    assert code_of(answer) == "upstream_status"


@pytest.mark.parametrize(("etag", "control"), [("", "max-age=9"), ('"1"', "private, no-store")])
async def test_some_answers_are_not_kept(
    static: Path, tmp_path: Path, etag: str, control: str
) -> None:
    async with proxying(static, tmp_path / "cache", Origin(ZIP, etag, control)) as (client, url):
        await client.get("/proxy", params={"url": url})
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.parametrize("length", ["Content-Length: {}", "Transfer-Encoding: chunked"])
async def test_a_body_that_says_its_end_is_kept(static: Path, tmp_path: Path, length: str) -> None:
    origin = Framed(length)
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        answer = await client.get("/proxy", params={"url": url})
    assert answer.content == ZIP
    assert len(list((tmp_path / "cache").iterdir())) == 1


async def test_a_body_that_may_have_been_cut_is_not_kept(static: Path, tmp_path: Path) -> None:
    """Without a length, a connection that broke looks like one that ended."""
    origin = Framed("Connection: close")
    origin.body = ZIP[:5000]
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        cut = await client.get("/proxy", params={"url": url})
        origin.body = ZIP
        whole = await client.get("/proxy", params={"url": url})
    assert (cut.content, whole.content) == (ZIP[:5000], ZIP)
    assert list((tmp_path / "cache").iterdir()) == []


class Framed:
    """A host that says a body's end in the way of ``line``, and knows its one ETag."""

    def __init__(self, line: str) -> None:
        self.line = line
        self.body = ZIP

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if b'if-none-match: "1"' in (await reader.readuntil(b"\r\n\r\n")).lower():
            writer.write(b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n')
            return
        line, body = self.line.format(len(self.body)), self.body
        if "chunked" in line:
            body = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
        writer.write(f'HTTP/1.1 200 OK\r\nETag: "1"\r\n{line}\r\n\r\n'.encode() + body)


async def test_a_304_that_nobody_asked_for_is_no_package(static: Path, tmp_path: Path) -> None:
    origin = Origin()
    origin.status = "304 Not Modified"
    async with proxying(static, tmp_path / "cache", origin) as (client, url):
        answer = await client.get("/proxy", params={"url": url})
    assert code_of(answer) == "upstream_status"


async def test_file_names_and_contents_tell_no_url(static: Path, tmp_path: Path) -> None:
    async with proxying(static, tmp_path / "cache", Origin()) as (client, url):
        await client.get("/proxy", params={"url": f"{url}?token=secret"})
    (entry,) = (tmp_path / "cache").iterdir()
    assert "secret" not in entry.name and b"secret" not in entry.read_bytes()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_a_body_that_breaks_off_is_not_kept(tmp_path: Path) -> None:
    async def breaking() -> AsyncIterator[bytes]:
        yield ZIP
        raise ConnectionResetError

    store = PackageCache(tmp_path, 2**20)
    with pytest.raises(ConnectionResetError):
        async for _ in store.storing("u", {"If-None-Match": "1"}, breaking()):
            pass
    assert names_in(tmp_path) == []


async def one(data: bytes) -> AsyncIterator[bytes]:
    yield data


async def keep(store: PackageCache, url: str, data: bytes) -> None:
    async for _ in store.storing(url, {"If-None-Match": '"1"'}, one(data)):
        pass


async def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    store = PackageCache(tmp_path, 2500)
    for name in ("a", "b"):
        await keep(store, name, bytes(1000))
        os.utime(store._path(name), (time.time() - 100, time.time() - 100))
    used = store.find("a")
    assert used
    used.close()
    await keep(store, "c", bytes(1000))
    found = {name: store.find(name) for name in ("a", "b", "c")}
    assert {name for name, entry in found.items() if entry} == {"a", "c"}
    for entry in found.values():
        if entry:
            entry.close()


async def test_an_open_entry_survives_being_dropped(tmp_path: Path) -> None:
    store = PackageCache(tmp_path, 1500)
    await keep(store, "a", b"a" * 1000)
    entry = store.find("a")
    assert entry
    await keep(store, "b", bytes(1400))
    assert store.find("a") is None
    assert b"".join([chunk async for chunk in entry.chunks()]) == b"a" * 1000
    entry.close()


async def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    store = PackageCache(tmp_path, 10_000)
    old, young = tmp_path / "0.draft", tmp_path / "1.draft"
    for draft in (old, young):
        draft.write_bytes(b"half")
    os.utime(old, (1, 1))
    await keep(store, "a", b"x")
    assert not old.exists() and young.exists()


async def test_only_a_few_are_written_at_once(tmp_path: Path) -> None:
    store = PackageCache(tmp_path, 2**20)
    writing = [
        store.storing(str(number), {"If-None-Match": "1"}, one(b"x"))
        for number in range(cache.MAX_WRITERS + 2)
    ]
    assert [await anext(each) for each in writing] == [b"x"] * len(writing)
    assert sum(name.endswith(".draft") for name in names_in(tmp_path)) == cache.MAX_WRITERS
    for each in writing:
        await each.aclose()
    assert names_in(tmp_path) == []


async def test_a_damaged_entry_is_no_entry(tmp_path: Path) -> None:
    store = PackageCache(tmp_path, 2**20)
    store._path("a").write_bytes(b"not json")
    store._path("b").write_bytes(b"")
    assert store.find("a") is None and store.find("b") is None


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """The kernel refuses this process every file over ``size`` bytes."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


async def test_a_full_disk_only_turns_caching_off(static: Path, tmp_path: Path) -> None:
    body = ZIP * 30
    async with proxying(static, tmp_path / "cache", Origin(body)) as (client, url):
        with full_disk(1000):
            answers = [await client.get("/proxy", params={"url": url}) for _ in range(2)]
        after = await client.get("/proxy", params={"url": url})
    assert [answer.content for answer in (*answers, after)] == [body] * 3
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_a_folder_that_cannot_be_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be made"):
        PackageCache(tmp_path / "file" / "cache", 1)


async def test_a_folder_that_vanishes_only_turns_caching_off(static: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    async with proxying(static, folder, Origin()) as (client, url):
        folder.rmdir()
        answer = await client.get("/proxy", params={"url": url})
    assert answer.content == ZIP
