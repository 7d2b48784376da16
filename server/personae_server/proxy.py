"""``GET /proxy?url=``: package zips that a browser may not fetch itself.

Invariants: nothing but a zip leaves, told by its first bytes; it is never a page of our origin
(opaque type, attachment, a CSP that allows nothing); a body that breaks off ends the
connection, so that it cannot pass for a whole file.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from personae_server.errors import HttpError
from personae_server.fetch import Fetched, Fetcher, too_large
from personae_server.streaming import send_chunks, send_start, while_connected

MAX_BYTES = 64 * 2**20
SECONDS = 30.0
# A local file header, or the end record of an archive without entries.
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_HEADERS = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": 'attachment; filename="character.zip"',
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-cache",
}

log = logging.getLogger(__name__)


class PackageProxy:
    """ASGI endpoint."""

    def __init__(self, fetcher: Fetcher) -> None:
        self.fetcher = fetcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        refuse_cross_site(request)
        url = one_parameter(request, "url")
        head = request.method == "HEAD"
        await while_connected(receive, self._serve(url, send, head))

    async def _serve(self, url: str, send: Send, head: bool) -> None:
        async with self.fetcher.get(url, {"Accept": "application/zip, */*;q=0.5"}) as upstream:
            length = _checked_length(upstream)
            chunks = upstream.chunks(MAX_BYTES)
            start = await _zip_start(chunks)
            await send_start(send, 200, _HEADERS | length)
            if head:
                await send({"type": "http.response.body", "body": b""})
                return
            try:
                await send_chunks(send, _chain(start, chunks))
            except (HttpError, TimeoutError) as error:
                log.warning("proxied download broke off: %s", type(error).__name__)


def refuse_cross_site(request: Request) -> None:
    """Keeps other sites from spending this server's bandwidth through their visitors."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        message = "This address is for this site's own pages."
        raise HttpError(403, "cross_site", message)


def one_parameter(request: Request, name: str) -> str:
    values = request.query_params.getlist(name)
    if len(values) != 1 or not values[0]:
        raise HttpError(400, f"{name}_missing", f"Give one query parameter {name!r}.")
    return values[0]


def _checked_length(upstream: Fetched) -> dict[str, str]:
    """The Content-Length to pass on, if there is one; refuses what is no plain file."""
    response = upstream.response
    if response.status_code != 200:
        message = f"The other server answered with status {response.status_code}."
        raise HttpError(502, "upstream_status", message)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        message = "The other server sends the file compressed although it was asked not to."
        raise HttpError(502, "upstream_encoding", message)
    length = response.headers.get("content-length")
    if length is None:
        return {}
    if len(length) > 12 or int(length) > MAX_BYTES:
        raise too_large(MAX_BYTES)
    return {"Content-Length": length}


async def _zip_start(chunks: AsyncIterator[bytes]) -> bytes:
    start = b""
    while len(start) < 4 and (chunk := await anext(chunks, None)) is not None:
        start += chunk
    if not start.startswith(_ZIP_STARTS):
        raise HttpError(502, "not_a_zip", "What is at that address is not a zip file.")
    return start


async def _chain(start: bytes, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield start
    async for chunk in chunks:
        yield chunk
