"""Readable text out of a fetched page. Runs in a helper process: pages are hostile input.

trafilatura finds the main text; it keeps lists and tables, which the faster extractors drop.
"""

from __future__ import annotations

import codecs
import zlib
from typing import NamedTuple

MAX_TEXT = 4 * 2**20
"""Bytes of a page after decompression; the rest is left out."""
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
HTML = ("text/html", "application/xhtml+xml")


class Page(NamedTuple):
    title: str | None
    text: str


def extract(body: bytes, compressed: bool, kind: str, charset: str | None) -> Page:
    """``kind`` is the media type, ``charset`` the header's. Raises ValueError: not decodable."""
    if compressed:
        body = _decompressed(body)
    known = _known_charset(body, charset)
    if kind not in HTML:
        return Page(None, _decoded(body, known))
    return _from_html(body.decode(known, "replace") if known else body)


def _decompressed(body: bytes) -> bytes:
    """gzip or zlib data, expanded no further than MAX_TEXT."""
    try:
        return zlib.decompressobj(wbits=47).decompress(body, MAX_TEXT)
    except zlib.error as error:
        raise ValueError("the page's compression is broken") from error


def _known_charset(body: bytes, charset: str | None) -> str | None:
    """As browsers decide: a byte order mark, then the header; the markup comes after these."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return name
    try:
        return codecs.lookup(charset).name if charset else None
    except LookupError:
        return None


def _decoded(body: bytes, charset: str | None) -> str:
    if charset is None:
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError:
            from charset_normalizer import from_bytes

            best = from_bytes(body).best()
            charset = best.encoding if best else "latin-1"
    return body.decode(charset, "replace").removeprefix("\ufeff")


def _from_html(page: str | bytes) -> Page:
    import trafilatura

    tree = trafilatura.load_html(page)
    if tree is None:
        return Page(None, "")
    title = tree.findtext(".//title")
    text = trafilatura.extract(page, include_comments=False, favor_recall=True)
    return Page(" ".join(title.split()) if title else None, text or trafilatura.html2txt(page))
