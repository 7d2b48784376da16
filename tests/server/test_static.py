"""Static files: types, caching, precompressed variants, revalidation, containment."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import brotli
import pytest
from personae_server.app import create_app
from personae_server.settings import Settings
from personae_server.static import accepted_encodings

from tests.server.hostile import connection
from tests.server.support import client_of, code_of, serving


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/character-player.js", "text/javascript; charset=utf-8"),
        ("/assets/core-0a1b/core.mjs", "text/javascript; charset=utf-8"),
        ("/assets/core-0a1b/core.wasm", "application/wasm"),
        ("/assets/core-0a1b/personae.whl", "application/zip"),
        ("/assets/core-0a1b/python_stdlib.zip", "application/zip"),
    ],
)
async def test_types(static: Path, path: str, kind: str) -> None:
    async with client_of(Settings(static=static)) as client:
        answer = await client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind


async def test_hashed_names_are_cached_for_a_year_and_the_rest_is_revalidated(
    static: Path,
) -> None:
    async with client_of(Settings(static=static)) as client:
        hashed = await client.get("/assets/core-0a1b/core.wasm")
        page = await client.get("/")
    assert hashed.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert page.headers["cache-control"] == "no-cache"


async def test_unchanged_pages_are_not_sent_again(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        etag = (await client.get("/")).headers["etag"]
        again = await client.get("/", headers={"If-None-Match": etag})
    assert again.status_code == 304
    assert again.content == b""
    assert again.headers["etag"] == etag


async def test_a_new_page_of_the_same_size_and_date_is_sent(static: Path) -> None:
    page = static / "index.html"
    (static / "index.html.br").unlink()
    (static / "index.html.gz").unlink()
    os.utime(page, (1_600_000_000, 1_600_000_000))
    async with client_of(Settings(static=static)) as client:
        first = await client.get("/")
    replaced = static / "new.html"
    replaced.write_text(page.read_text().replace("xxx", "yyy"))
    os.utime(replaced, (1_600_000_000, 1_600_000_000))
    replaced.replace(page)
    conditions = {
        "If-None-Match": first.headers["etag"],
        "If-Modified-Since": first.headers["last-modified"],
    }
    async with client_of(Settings(static=static)) as client:
        second = await client.get("/", headers=conditions)
    assert second.status_code == 200
    assert "yyy" in second.text


async def test_a_date_alone_never_means_unchanged(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        date = (await client.get("/")).headers["last-modified"]
        again = await client.get("/", headers={"If-Modified-Since": date})
    assert again.status_code == 200


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        ("gzip, deflate, br", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip", "gzip"),
        ("br; q=0.000, gzip;q=0", None),
        ("identity", None),
        ("", None),
    ],
)
async def test_the_smallest_accepted_form_is_sent(
    static: Path, accept: str, coding: str | None
) -> None:
    path = "/assets/core-0a1b/core.wasm"
    async with (
        client_of(Settings(static=static)) as client,
        client.stream("GET", path, headers={"Accept-Encoding": accept}) as answer,
    ):
        raw = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert answer.headers.get("content-encoding") == coding
    assert answer.headers["vary"] == "Accept-Encoding"
    assert answer.headers["content-type"] == "application/wasm"
    decode = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}[coding]
    assert decode(raw) == (static / path[1:]).read_bytes()


async def test_variants_have_their_own_etags(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        etags = {
            (await client.get("/", headers={"Accept-Encoding": coding})).headers["etag"]
            for coding in ("br", "gzip", "identity")
        }
    assert len(etags) == 3


def test_accept_encoding_with_weights() -> None:
    assert accepted_encodings("GZIP;q=0.5 , br ;q=1.0, zstd;q=0") == {"gzip", "br"}


async def test_head_and_range(static: Path) -> None:
    path = "/assets/core-0a1b/core.wasm"
    plain = {"Accept-Encoding": "identity"}
    async with client_of(Settings(static=static)) as client:
        head = await client.head(path, headers=plain)
        part = await client.get(path, headers=plain | {"Range": "bytes=0-3"})
    assert (head.content, head.headers["content-length"]) == (b"", "400")
    assert (part.status_code, part.content) == (206, b"\0asm")


@pytest.mark.parametrize(
    "path",
    ["/missing.js", "/../secret", "/..%2fsecret", "/%2e%2e/secret", "/assets/%00", "//etc/passwd"],
)
async def test_nothing_outside_the_bundle(static: Path, path: str) -> None:
    (static.parent / "secret").write_text("secret")
    async with client_of(Settings(static=static)) as client:
        answer = await client.get(path)
    assert answer.status_code == 404
    assert code_of(answer) == "not_found"


@pytest.mark.parametrize(
    "path",
    [
        *("/assets/..%2f", "/assets/..%2findex.html", "/assets/../index.html", "/assets/.."),
        *("/assets/core-0a1b/../../index.html", "/assets/%2e%2e/index.html", "/./index.html"),
        *("/assets//core-0a1b/core.mjs", "/assets/..%5cindex.html", "/%2fassets/../index.html"),
        *("/x/..%2fcharacter-player.js", "/x/../assets/sandbox-0a1b/frame.html"),
        *("/..%2f..%2fframe.html", "/assets/..%2f..%2f..%2fframe.html"),
    ],
)
async def test_a_path_that_leads_elsewhere_than_it_says_has_no_assets_headers(
    static: Path, path: str
) -> None:
    """Asked as it stands: clients tidy paths before they ask."""
    async with serving(create_app(Settings(static=static))) as base, connection(base) as client:
        await client.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, headers, _ = await client.answer()
    assert status == 404
    assert "access-control-allow-origin" not in headers
    assert "immutable" not in headers.get("cache-control", "")
    assert headers["content-security-policy"].startswith("default-src 'none'")


async def test_a_link_out_of_the_bundle_is_not_followed(static: Path) -> None:
    (static.parent / "secret").write_text("secret")
    (static / "link").symlink_to(static.parent / "secret")
    async with client_of(Settings(static=static)) as client:
        assert (await client.get("/link")).status_code == 404


async def test_other_methods_are_refused(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        answer = await client.post("/")
    assert (answer.status_code, code_of(answer)) == (405, "method_not_allowed")
