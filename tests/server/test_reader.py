"""The page reader: what agents get of a page, and why they get nothing (reference: studio.web)."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from pathlib import Path

import httpx
import pytest
from personae_server import extract, reader
from personae_server.settings import Settings

from tests.server.support import LOOPBACK, Handler, answering, client_of, code_of, raw_upstream

ARTICLE = """<!doctype html><html><head><title> The
 Lighthouse &amp; the Sea </title><script>var tracker = 1</script></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/shop">Shop of lamps</a></li></ul></nav>
<article><h1>The Lighthouse</h1><p>The lighthouse at the northern cape was built of grey stone that
ships brought from the mainland, and it has burned every night since then.</p>
<h2>Stores</h2><ul><li>Oil: 40 barrels</li><li>Wicks: 12</li></ul>
<p>Three keepers lived there at a time, each with a watch of eight hours, a goat, and a shelf of
books that they shared. Ä ö ü — “quotes”.</p></article>
<aside><a href="/1">Ten famous storms</a></aside><footer>Copyright of the harbour</footer>
</body></html>"""


def settings(static: Path, port: int) -> Settings:
    return Settings(static=static, reader=True, proxy_ports=(port,), proxy_networks=LOOPBACK)


async def read(
    static: Path, handler: Handler, path: str = "/page", **parameters: object
) -> httpx.Response:
    async with raw_upstream(handler) as port, client_of(settings(static, port)) as client:
        url = f"http://127.0.0.1:{port}{path}"
        return await client.get("/read", params={"url": url, **parameters})


def page(text: str, kind: str = "text/html; charset=utf-8", **headers: str) -> Handler:
    return answering(text.encode(), Content_Type=kind, **headers)


async def test_a_page_becomes_text(static: Path) -> None:
    answer = await read(static, page(ARTICLE))
    body = answer.json()
    assert answer.status_code == 200
    assert body["title"] == "The Lighthouse & the Sea"
    assert "burned every night" in body["text"] and "Oil: 40 barrels" in body["text"]
    assert "Ä ö ü — “quotes”" in body["text"]
    for noise in ("tracker", "<p>", "Shop of lamps", "Copyright"):
        assert noise not in body["text"]
    assert (body["status"], body["contentType"], body["truncated"]) == (200, "text/html", False)
    assert body["url"].endswith("/page")
    assert set(body) == {"url", "status", "contentType", "title", "text", "truncated"}


async def test_the_final_url_and_status_are_told(static: Path) -> None:
    locations = ["/moved"]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if locations:
            return await answering(b"", "301 Moved", Location=locations.pop())(reader, writer)
        return await answering(b"Gone fishing", "410 Gone", Content_Type="text/plain")(
            reader, writer
        )

    body = (await read(static, handle)).json()
    assert body["url"].endswith("/moved")
    assert (body["status"], body["text"], body["title"]) == (410, "Gone fishing", None)


@pytest.mark.parametrize(
    ("asked", "length"), [(None, 8000), (10, 500), (1234, 1234), (10**6, 30_000)]
)
async def test_long_pages_are_cut(static: Path, asked: int | None, length: int) -> None:
    parameters = {} if asked is None else {"maxChars": asked}
    body = (
        await read(static, page("é" * 40_000, "text/plain; charset=utf-8"), **parameters)
    ).json()
    assert (len(body["text"]), body["truncated"]) == (length, True)


async def test_long_titles_are_cut(static: Path) -> None:
    html = ARTICLE.replace("Lighthouse &amp;", "long " * 10_000)
    body = (await read(static, page(html))).json()
    assert len(body["title"]) == reader.MOST_TITLE and "burned" in body["text"]


@pytest.mark.parametrize("given", ["-1", "many", "1.5", "9" * 40])
async def test_max_chars_is_a_number(static: Path, given: str) -> None:
    answer = await read(static, page("x"), maxChars=given)
    assert (answer.status_code, code_of(answer)) == (400, "max_chars_invalid")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("grün €".encode("cp1252"), "text/plain; charset=windows-1252"),
        ("grün €".encode(), "text/plain"),
        ("\ufeffgrün €".encode(), "text/plain; charset=iso-8859-1"),
        ("grün €".encode("utf-16"), "text/plain"),
        ("grün €".encode(), 'text/plain; charset="utf-8"'),
        ("grün €".encode(), "text/plain; charset=no-such-charset"),
    ],
)
async def test_charsets(static: Path, body: bytes, kind: str) -> None:
    answer = await read(static, answering(body, Content_Type=kind))
    assert answer.json()["text"] == "grün €"


async def test_the_charset_of_the_markup(static: Path) -> None:
    html = ARTICLE.replace("<head>", '<head><meta charset="iso-8859-2">').replace("—", "ł")
    body = html.replace("“quotes”", "q").encode("iso-8859-2")
    answer = await read(static, answering(body, Content_Type="text/html"))
    assert "Ä ö ü ł" in answer.json()["text"]


@pytest.mark.parametrize(
    "kind", ["application/json", "application/ld+json", "text/markdown", "application/rss+xml"]
)
async def test_other_texts_pass_as_they_are(static: Path, kind: str) -> None:
    body = (await read(static, page('{"a": 1}', kind))).json()
    assert (body["text"], body["contentType"], body["title"]) == ('{"a": 1}', kind, None)


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/zip", "video/mp4"])
async def test_what_has_no_text_is_refused(static: Path, kind: str) -> None:
    answer = await read(static, page("x", kind))
    assert code_of(answer) == "content_type_unsupported"
    assert kind in answer.text


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_compressed_pages_are_read(static: Path, coding: str) -> None:
    compress = {"gzip": gzip.compress, "deflate": zlib.compress}[coding]
    data = compress(ARTICLE.encode())
    handler = answering(data, Content_Type="text/html; charset=utf-8", Content_Encoding=coding)
    assert "burned every night" in (await read(static, handler)).json()["text"]


async def test_a_decompression_bomb_is_not_expanded(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = gzip.compress(b"a" * 200_000_000, 9)
    handler = answering(bomb, Content_Type="text/plain", Content_Encoding="gzip")
    body = (await read(static, handler)).json()
    assert body["text"] == "a" * 8000 and body["truncated"]
    assert len(extract.extract(bomb, True, "text/plain", None).text) == extract.MAX_TEXT


@pytest.mark.parametrize(
    ("coding", "code"), [("br", "upstream_encoding"), ("gzip", "page_unreadable")]
)
async def test_other_codings_and_broken_ones(static: Path, coding: str, code: str) -> None:
    answer = await read(
        static, answering(b"junk", Content_Type="text/html", Content_Encoding=coding)
    )
    assert code_of(answer) == code


async def test_a_page_that_is_too_large(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_BYTES", 1000)
    answer = await read(static, page("x" * 2000))
    assert code_of(answer) == "too_large"


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("nonsense", "url_invalid", "not a valid URL"),
        ("http://u:p@a.example/", "url_invalid", "not a valid URL"),
        ("ftp://a.example/", "url_scheme", "only http(s)"),
        ("http://127.0.0.1/", "address_blocked", "blocked"),
        ("http://169.254.169.254/latest/", "address_blocked", "blocked"),
        ("http://[::ffff:10.0.0.1]/", "address_blocked", "blocked"),
        ("http://a.example:6379/", "port_blocked", "blocked"),
    ],
)
async def test_refusals_use_the_references_words(
    static: Path, url: str, code: str, words: str
) -> None:
    async with client_of(Settings(static=static, reader=True)) as client:
        answer = await client.get("/read", params={"url": url})
    assert code_of(answer) == code
    assert words in answer.json()["error"]["message"]


async def test_a_page_that_takes_too_long_to_read_kills_only_the_helper(
    static: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "EXTRACT_SECONDS", 0.02)
    slow = "<div>" * 20_000 + "x"
    answer = await read(static, page(slow))
    assert code_of(answer) == "page_unreadable"
    monkeypatch.setattr(reader, "EXTRACT_SECONDS", 10)
    assert (await read(static, page(ARTICLE))).status_code == 200


@pytest.mark.parametrize(
    "body", ["", "<", "<html>", "\0\0", "<title>", "<p>" * 5000, "&#0;&#xD800;", "<a" * 9999]
)
def test_odd_pages_are_no_crash(body: str) -> None:
    for data in (body.encode(), body.encode("utf-16")):
        found = extract.extract(data, False, "text/html", None)
        found.text.encode()


async def test_other_sites_may_not_use_it(static: Path) -> None:
    async with client_of(Settings(static=static, reader=True)) as client:
        answer = await client.get("/read?url=a", headers={"Sec-Fetch-Site": "cross-site"})
    assert code_of(answer) == "cross_site"


async def test_it_is_off_unless_the_operator_turns_it_on(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        assert (await client.get("/read?url=http://a.example/")).status_code == 404
        assert (await client.get("/config.json")).json()["reader"] is False
