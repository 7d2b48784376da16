"""How much each client may use: requests per time, tokens per time, streams at once.

Rates are counted in memory, or in Redis for all processes of a host together. When the store
fails, requests are refused: an unlimited relay would cost the operator money.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from limits import RateLimitItem, parse_many
from limits.aio.storage import Storage
from limits.aio.strategies import FixedWindowRateLimiter, SlidingWindowCounterRateLimiter
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string
from personae.errors import UsageError
from starlette.types import Scope

from personae_server import metrics
from personae_server.errors import HttpError


def client_of(scope: Scope) -> str:
    """Whom a request is counted against."""
    return client_at(scope["client"][0] if scope.get("client") else None)


def client_at(text: str | None) -> str:
    """The client of an address: an IPv4 address or a /64, what one line usually has."""
    try:
        address = ipaddress.ip_address(text or "")
    except ValueError:
        return "unknown"
    mapped = getattr(address, "ipv4_mapped", None)
    if address.version == 4 or mapped:
        return str(mapped or address)
    return str(ipaddress.ip_network((address.packed[:8] + bytes(8), 64)))


def open_store(url: str) -> Storage:
    """Raises UsageError (``rate_store``) for a URL that names no store."""
    waiting: Any = {"socket_timeout": 2, "socket_connect_timeout": 2}
    options: Any = {} if url.startswith("memory:") else {"implementation": "redispy", **waiting}
    try:
        store = storage_from_string(f"async+{url}", wrap_exceptions=True, **options)
    except (ConfigurationError, ValueError) as error:
        message = f"rate_store is {url!r}: {error}. Redis needs `pip install 'personae[redis]'`."
        raise UsageError("rate_store", message) from error
    assert isinstance(store, Storage)
    return store


class Rate:
    """Requests per client, for one purpose."""

    def __init__(self, store: Storage, purpose: str, rates: str) -> None:
        self.purpose = purpose
        self.items = parse_many(rates)
        self.window = SlidingWindowCounterRateLimiter(store)

    async def spend(self, client: str) -> None:
        """Counts one request. Raises HttpError: rate_limited, with Retry-After."""
        for item in self.items:
            with _refusing_when_broken():
                if await self.window.hit(item, self.purpose, client):
                    continue
                stats = await self.window.get_window_stats(item, self.purpose, client)
            metrics.RATE_LIMITED.labels(self.purpose).inc()
            raise _too_many("rate_limited", "Too many requests", item, stats.reset_time)


class Budget:
    """Tokens per client. Spent afterwards, so requests under way may go over it once."""

    def __init__(self, store: Storage, purpose: str, rates: str) -> None:
        self.purpose = purpose
        self.items = parse_many(rates)
        self.window = FixedWindowRateLimiter(store)

    async def check(self, client: str) -> None:
        """Raises HttpError: budget_spent, with Retry-After."""
        for item in self.items:
            with _refusing_when_broken():
                if await self.window.test(item, self.purpose, client):
                    continue
                stats = await self.window.get_window_stats(item, self.purpose, client)
            metrics.RATE_LIMITED.labels(self.purpose).inc()
            raise _too_many("budget_spent", "The token budget is spent", item, stats.reset_time)

    async def spend(self, client: str, tokens: int) -> None:
        for item in self.items:
            with _refusing_when_broken():
                await self.window.hit(item, self.purpose, client, cost=max(tokens, 1))


class Places:
    """At most ``limit`` things of one client at a time, in this process."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._taken: Counter[str] = Counter()

    @contextmanager
    def take(self, client: str) -> Iterator[None]:
        """Raises HttpError: too_many_streams."""
        if self._taken[client] >= self.limit:
            message = f"At most {self.limit} requests at a time: wait for one to end."
            raise HttpError(429, "too_many_streams", message, {"Retry-After": "1"})
        self._taken[client] += 1
        try:
            yield
        finally:
            self._taken[client] -= 1
            if not self._taken[client]:
                del self._taken[client]


@contextmanager
def _refusing_when_broken() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        message = "This server cannot count requests at the moment: try again later."
        raise HttpError(503, "rates_unavailable", message, {"Retry-After": "5"}) from error


def _too_many(code: str, what: str, item: RateLimitItem, reset: float) -> HttpError:
    seconds = max(1, math.ceil(reset - time.time()))
    message = f"{what} (limit: {item}): try again in {seconds} s."
    return HttpError(429, code, message, {"Retry-After": str(seconds)})
