"""``GET /proxy?url=``: package zips that a browser may not fetch itself.

Invariants: nothing but a zip leaves, told by its first bytes; it is never a page of our origin
(opaque type, attachment, a CSP that allows nothing); a body that breaks off ends the
connection, so that it cannot pass for a whole file.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing

import httpx
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from personae_server import metrics
from personae_server.cache import Entry, PackageCache
from personae_server.drain import Drain
from personae_server.errors import HttpError
from personae_server.fetch import Fetched, Fetcher, too_large
from personae_server.rates import Places, Rate, client_of
from personae_server.streaming import Chunks, send_chunks, send_start, while_connected

MAX_BYTES = 64 * 2**20
SECONDS = 30.0
# A local file header, or the end record of an archive without entries.
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_ACCEPT = {"Accept": "application/zip, */*;q=0.5"}
_HEADERS = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": 'attachment; filename="character.zip"',
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "no-store",
}

log = logging.getLogger(__name__)


class PackageProxy:
    """ASGI endpoint."""

    def __init__(
        self,
        fetcher: Fetcher,
        rate: Rate,
        places: Places,
        drain: Drain,
        cache: PackageCache | None,
    ) -> None:
        self.fetcher = fetcher
        self.rate = rate
        self.places = places
        self.drain = drain
        self.cache = cache

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        refuse_cross_site(request)
        url = one_parameter(request, "url")
        client = client_of(scope)
        await self.rate.spend(client)
        head = request.method == "HEAD"
        with self.places.take(client):
            await while_connected(receive, self._serve(url, client, send, head))

    async def _serve(self, url: str, client: str, send: Send, head: bool) -> None:
        async with AsyncExitStack() as stack:
            kept = _Kept(self.cache)
            stack.callback(kept.close)
            got = self.fetcher.get(url, kept.conditions, client)
            upstream = await stack.enter_async_context(got)
            if upstream.response.status_code == 304 and kept.entry is not None:
                metrics.CACHE.labels("hit").inc()
                size: int | None = kept.entry.size
                body = kept.entry.chunks()
            else:
                size = _checked_size(upstream)
                body = await self._fresh(upstream, stack)
            length = {} if size is None else {"Content-Length": str(size)}
            await send_start(send, 200, _HEADERS | length)
            if head:
                await send({"type": "http.response.body", "body": b""})
                return
            await self._send(send, body)

    async def _fresh(self, upstream: Fetched, stack: AsyncExitStack) -> Chunks:
        """The body, seen to be a zip, and kept in the cache while it passes."""
        chunks = await stack.enter_async_context(aclosing(upstream.chunks(MAX_BYTES)))
        body = _chain(await _zip_start(chunks), chunks)
        if self.cache is None:
            return body
        metrics.CACHE.labels("miss").inc()
        storing = self.cache.storing(str(upstream.url), _validators(upstream.response), body)
        return await stack.enter_async_context(aclosing(storing))

    async def _send(self, send: Send, body: AsyncIterator[bytes]) -> None:
        try:
            async with aclosing(self.drain.until_over(body)) as chunks:
                await send_chunks(send, chunks)
        except (HttpError, TimeoutError) as error:
            code = error.code if isinstance(error, HttpError) else "client_stalled"
            metrics.ERRORS.labels("/proxy", code).inc()
            log.warning("a package broke off: %s", code)


class _Kept:
    """The cache's entry for the URL that is asked at the moment, kept open for this request."""

    def __init__(self, cache: PackageCache | None) -> None:
        self.cache = cache
        self.entry: Entry | None = None

    def conditions(self, url: httpx.URL) -> Mapping[str, str]:
        self.close()
        self.entry = self.cache.find(str(url)) if self.cache else None
        return _ACCEPT | (self.entry.validators if self.entry else {})

    def close(self) -> None:
        if self.entry is not None:
            self.entry.close()
            self.entry = None


def refuse_cross_site(request: Request) -> None:
    """Keeps other sites from spending this server's means through their visitors."""
    if request.headers.get("sec-fetch-site") == "cross-site":
        message = "This address is for this site's own pages."
        raise HttpError(403, "cross_site", message)


def one_parameter(request: Request, name: str) -> str:
    values = request.query_params.getlist(name)
    if len(values) != 1 or not values[0]:
        raise HttpError(400, f"{name}_missing", f"Give one query parameter {name!r}.")
    return values[0]


def _checked_size(upstream: Fetched) -> int | None:
    """The size it declares, if it does; refuses what is no plain file."""
    response = upstream.response
    if response.status_code != 200:
        message = f"The other server answered with status {response.status_code}."
        raise HttpError(502, "upstream_status", message)
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        message = "The other server sends the file compressed although it was asked not to."
        raise HttpError(502, "upstream_encoding", message)
    length = response.headers.get("content-length")
    if length is None:
        return None
    if len(length) > 12 or int(length) > MAX_BYTES:
        raise too_large(MAX_BYTES)
    return int(length)


def _validators(response: httpx.Response) -> dict[str, str]:
    """What to ask with next time; nothing when the answer may not be kept.

    A body that ends where its connection does may have been cut, and would be served cut again.
    """
    chunked = "chunked" in response.headers.get("transfer-encoding", "").lower()
    if not chunked and "content-length" not in response.headers:
        return {}
    if "no-store" in response.headers.get("cache-control", "").lower():
        return {}
    names = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}
    found = {ours: response.headers.get(theirs) for ours, theirs in names.items()}
    return {name: value for name, value in found.items() if value}


async def _zip_start(chunks: AsyncIterator[bytes]) -> bytes:
    start = b""
    while len(start) < 4 and (chunk := await anext(chunks, None)) is not None:
        start += chunk
    if not start.startswith(_ZIP_STARTS):
        raise HttpError(502, "not_a_zip", "What is at that address is not a zip file.")
    return start


async def _chain(start: bytes, chunks: AsyncIterator[bytes]) -> Chunks:
    yield start
    async for chunk in chunks:
        yield chunk
