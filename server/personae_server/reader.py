"""``GET /read?url=&maxChars=``: web pages as text, for agents (reference: studio.web).

The answer is ``{url, status, contentType, title, text, truncated}``. Error messages carry the
words that the reference asks for: "not a valid URL", "only http(s)", "blocked".
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from personae.errors import UsageError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from personae_server.errors import HttpError
from personae_server.extract import HTML, Page, extract
from personae_server.fetch import Fetched, Fetcher
from personae_server.helpers import HelperFailed, Helpers
from personae_server.proxy import one_parameter, refuse_cross_site
from personae_server.rates import Rate, client_of
from personae_server.streaming import while_connected
from personae_server.turns import Turns

SECONDS = 15.0
EXTRACT_SECONDS = 10.0
EACH, TOTAL, LINE = 4, 64, 32
"""Pages that one client and all of them read at a time; how many more of one client's wait."""
MAX_BYTES = 4 * 2**20
DEFAULT_CHARS, LEAST_CHARS, MOST_CHARS = 8000, 500, 30_000
MOST_TITLE = 1000
_TEXT = re.compile(r"text/.+|application/(json|xml|yaml|javascript|[a-z.-]+\+(json|xml))")
_HEADERS = {"Accept": "text/html, text/plain;q=0.9, application/json;q=0.8, */*;q=0.1"}


class PageReader:
    """ASGI endpoint. Raises UsageError at once when the extractor is not installed."""

    def __init__(self, fetcher: Fetcher, rate: Rate) -> None:
        if find_spec("trafilatura") is None:
            message = "The page reader needs `pip install 'personae[reader]'`."
            raise UsageError("reader_missing", message)
        self.fetcher = fetcher
        self.rate = rate
        self._turns = Turns(EACH, TOTAL, LINE)
        self._helpers = Helpers()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        refuse_cross_site(request)
        url, limit = one_parameter(request, "url"), _max_chars(request)
        client = client_of(scope)
        await self.rate.spend(client)

        async def work() -> None:
            async with self._turns.take(client):
                page = await self._read(url, limit, client)
            await JSONResponse(page, headers={"Cache-Control": "no-store"})(scope, receive, send)

        await while_connected(receive, work())

    async def _read(self, url: str, limit: int, client: str) -> dict[str, Any]:
        async with self.fetcher.get(url, lambda _: _HEADERS, client) as upstream:
            kind, charset = _content_type(upstream)
            body = bytearray()
            async for chunk in upstream.chunks(MAX_BYTES):
                body += chunk
            compressed = _is_compressed(upstream)
        page = await self._extracted(client, bytes(body), compressed, kind, charset)
        return {
            "url": str(upstream.url),
            "status": upstream.response.status_code,
            "contentType": kind,
            "title": page.title,
            "text": page.text[:limit],
            "truncated": len(page.text) > limit,
        }

    async def _extracted(
        self, client: str, body: bytes, compressed: bool, kind: str, charset: str | None
    ) -> Page:
        try:
            return await self._helpers.run(
                client, EXTRACT_SECONDS, _short, body, compressed, kind, charset
            )
        except HelperFailed as error:
            raise HttpError(502, "page_unreadable", "That page could not be read.") from error


def _short(body: bytes, compressed: bool, kind: str, charset: str | None) -> Page:
    """What of a page may be asked for, and one character more: all that leaves the helper."""
    title, text = extract(body, compressed, kind, charset)
    return Page(title and title[:MOST_TITLE], text[: MOST_CHARS + 1])


def _max_chars(request: Request) -> int:
    given = request.query_params.get("maxChars", str(DEFAULT_CHARS))
    if not re.fullmatch(r"\d{1,9}", given):
        raise HttpError(400, "max_chars_invalid", "maxChars has to be a whole number.")
    return min(max(int(given), LEAST_CHARS), MOST_CHARS)


def _content_type(upstream: Fetched) -> tuple[str, str | None]:
    """The media type and charset. Raises HttpError for what has no text to read."""
    header = upstream.response.headers.get("content-type", "text/html")
    kind = header.partition(";")[0].strip().lower()
    if kind not in HTML and not _TEXT.fullmatch(kind):
        message = f"Pages of the type {kind[:80]!r} cannot be read."
        raise HttpError(502, "content_type_unsupported", message)
    charset = re.search(r"charset\s*=\s*[\"']?([\w.:-]+)", header, re.IGNORECASE)
    return kind, charset[1] if charset else None


def _is_compressed(upstream: Fetched) -> bool:
    """Some servers compress without being asked to."""
    coding: str = upstream.response.headers.get("content-encoding", "identity").lower()
    if coding not in ("identity", "gzip", "x-gzip", "deflate"):
        message = "The other server sends the page compressed although it was asked not to."
        raise HttpError(502, "upstream_encoding", message)
    return coding != "identity"
