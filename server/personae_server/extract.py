"""Readable text out of a fetched page. Runs in a helper process: pages are hostile input.

trafilatura finds the main text; it keeps lists and tables, which the faster extractors drop.
"""

from __future__ import annotations

import zlib
from typing import NamedTuple

from personae_server.charsets import decoded

MAX_TEXT = 4 * 2**20
"""Bytes of a page after decompression; the rest is left out."""
HTML = ("text/html", "application/xhtml+xml")


class Page(NamedTuple):
    title: str | None
    text: str


def extract(body: bytes, compressed: bool, kind: str, charset: str | None) -> Page:
    """``kind`` is the media type, ``charset`` the header's. Raises ValueError: not decodable."""
    if compressed:
        body = _decompressed(body)
    markup = kind in HTML
    text = decoded(body, charset, markup)
    return _from_html(text) if markup else Page(None, text)


def _decompressed(body: bytes) -> bytes:
    """gzip or zlib data, expanded no further than MAX_TEXT."""
    try:
        return zlib.decompressobj(wbits=47).decompress(body, MAX_TEXT)
    except zlib.error as error:
        raise ValueError("the page's compression is broken") from error


def _from_html(page: str) -> Page:
    import trafilatura

    tree = trafilatura.load_html(page)
    if tree is None:
        return Page(None, "")
    title = tree.findtext(".//title")
    text = trafilatura.extract(page, include_comments=False, favor_recall=True)
    return Page(" ".join(title.split()) if title else None, text or trafilatura.html2txt(page))
