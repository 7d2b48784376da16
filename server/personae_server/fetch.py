"""Fetching what a visitor named, without trusting the name or the answer.

Invariants: every hop of a redirect is judged by the guard and its connection pinned to the
judged address; nothing of the visitor's request (cookies, credentials, headers) is passed on and
no cookie is kept; the body is passed as it came, never decompressed; waiting for the upstream
is limited in total, so a slow or endless body ends.

httpx-secure watches each connection a second time. It is never given a name: it would open a
connection to learn a name's address before judging it, which tells open ports from closed ones.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ssl import SSLContext

import httpx
from httpx_secure import SSRFProtectionError, httpx_ssrf_protection

from personae_server import __version__
from personae_server.errors import HttpError
from personae_server.guard import Address, Guard, Target, port_of
from personae_server.heads import head_is_over, limit_heads
from personae_server.resolver import Resolver
from personae_server.streaming import Chunks

MAX_REDIRECTS = 5
CONNECT_SECONDS = 10.0
_USER_AGENT = f"personae/{__version__}"
Headers = Callable[[httpx.URL], Mapping[str, str]]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@cache
def trusted() -> SSLContext:
    """The authorities that connections are checked against; read once, which takes a while."""
    return httpx.create_ssl_context()


class Allowance:
    """How many seconds may still be spent waiting for an upstream."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds

    @asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Counts the time inside. Raises HttpError (upstream_timeout) once nothing is left."""
        clock = asyncio.get_running_loop().time
        start = clock()
        try:
            async with asyncio.timeout(max(self.left, 0)):
                yield
        except TimeoutError as error:
            raise HttpError(504, "upstream_timeout", "The other server took too long.") from error
        finally:
            self.left -= clock() - start


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer whose body is still arriving."""

    response: httpx.Response
    url: httpx.URL
    """The address that answered, after redirects."""
    allowance: Allowance

    async def chunks(self, limit: int) -> Chunks:
        """The body as sent. Raises HttpError: too_large, upstream_timeout, upstream_failed."""
        raw, total = self.response.aiter_raw(), 0
        while True:
            async with self.allowance.spend(), _as_http_errors():
                chunk = await anext(raw, None)
            if chunk is None:
                return
            total += len(chunk)
            if total > limit:
                raise too_large(limit)
            yield chunk
            # What was read holds thousands of pieces when an upstream wants it so.
            await asyncio.sleep(0)


class Fetcher:
    """A guarded GET client. Close it with ``close``."""

    def __init__(
        self, guard: Guard, resolver: Resolver, seconds: float, verify: SSLContext | None = None
    ) -> None:
        self.guard = guard
        self.resolver = resolver
        self.seconds = seconds
        self._client = httpx.AsyncClient(
            verify=verify or trusted(),
            trust_env=False,
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS, pool=None),
            # No reuse: connections are told apart by address, and hosts can share one.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
        )
        httpx_ssrf_protection(
            self._client,
            check_globally_reachable=False,
            custom_validator=self._allows,
            dns_cache_size=0,
        )
        limit_heads(self._client)

    async def close(self) -> None:
        await self._client.aclose()

    @asynccontextmanager
    async def get(self, text: str, headers: Headers, client: str) -> AsyncIterator[Fetched]:
        """Follows redirects from ``text`` and yields the first other answer.

        ``headers`` gives the headers to send to each URL on the way; ``client`` is who asks.

        Raises HttpError: what the guard and the resolver refuse, and upstream_unreachable,
        upstream_timeout, upstream_failed, redirect_invalid, redirect_loop.
        """
        url = self.guard.check_url(text)
        allowance = Allowance(self.seconds)
        for _ in range(MAX_REDIRECTS + 1):
            async with allowance.spend(), _as_http_errors():
                response = await self._send(await self._target(url, client), headers(url))
            try:
                location = response.headers.get("location")
                if response.status_code not in _REDIRECTS or not location:
                    yield Fetched(response, url, allowance)
                    return
                url = self._next_hop(url, location)
            finally:
                await response.aclose()
        raise HttpError(502, "redirect_loop", f"More than {MAX_REDIRECTS} redirects in a row.")

    async def _target(self, url: httpx.URL, client: str) -> Target:
        host = url.raw_host.decode("ascii")
        return self.guard.judge(url, await self.resolver.look_up(host, port_of(url), client))

    def _allows(self, hostname: str, address: Address, port: int) -> bool:
        return self.guard.allows(address) and port in self.guard.ports

    async def _send(self, target: Target, headers: Mapping[str, str]) -> httpx.Response:
        """Asks the judged addresses in turn until one accepts the connection."""
        for address in target.addresses[:-1]:
            try:
                return await self._send_to(address, target, headers)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        return await self._send_to(target.addresses[-1], target, headers)

    async def _send_to(
        self, address: str, target: Target, headers: Mapping[str, str]
    ) -> httpx.Response:
        request = self._client.build_request(
            "GET",
            target.url.copy_with(host=address),
            headers={
                "Host": target.url.netloc.decode("ascii"),
                "User-Agent": _USER_AGENT,
                "Accept-Encoding": "identity",
                **headers,
            },
            # The certificate is checked against the name, though we connect to the address.
            extensions={"sni_hostname": target.host.rstrip(".")},
        )
        response = await self._client.send(request, stream=True)
        head_is_over(response)
        return response

    def _next_hop(self, url: httpx.URL, location: str) -> httpx.URL:
        try:
            joined = url.join(location)
        except (httpx.InvalidURL, ValueError) as error:
            raise _bad_redirect() from error
        if "\\" in location or (url.scheme, joined.scheme) == ("https", "http"):
            raise _bad_redirect()
        return self.guard.check_url(str(joined))


@asynccontextmanager
async def _as_http_errors() -> AsyncIterator[None]:
    """httpx's errors as ours; none of them tells what the name resolved to."""
    try:
        yield
    except SSRFProtectionError as error:
        raise HttpError(403, "address_blocked", "That address is blocked.") from error
    except httpx.TimeoutException as error:
        raise HttpError(504, "upstream_timeout", "The other server took too long.") from error
    except httpx.ConnectError as error:
        message = "The other server could not be reached, or its certificate is not valid."
        raise HttpError(502, "upstream_unreachable", message) from error
    except httpx.HTTPError as error:
        message = "The other server broke the connection off or does not speak HTTP."
        raise HttpError(502, "upstream_failed", message) from error


def too_large(limit: int) -> HttpError:
    return HttpError(502, "too_large", f"The file is over the limit of {limit // 2**20} MiB.")


def _bad_redirect() -> HttpError:
    message = "The other server redirects to an address that is not fetched."
    return HttpError(502, "redirect_invalid", message)
