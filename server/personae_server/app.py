"""The application: which paths there are and what answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from personae.errors import UsageError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from personae_server import __version__, errors, proxy, reader
from personae_server.cache import PackageCache
from personae_server.characters import Characters
from personae_server.drain import Drain
from personae_server.fetch import Fetcher
from personae_server.framing import Framing
from personae_server.guard import Guard
from personae_server.headers import SecurityHeaders
from personae_server.hosts import HostNames, KnownHosts
from personae_server.logs import AccessLog
from personae_server.rates import Places, Rate, open_store
from personae_server.relay import Relay
from personae_server.resolver import Resolver
from personae_server.settings import Settings
from personae_server.static import PlayerFiles


def create_app(settings: Settings) -> Starlette:
    """The ASGI application. Raises UsageError for settings that cannot work."""
    if not (settings.static / "index.html").is_file():
        message = f"No player in {settings.static}: install the wheel, or build with `make run`."
        raise UsageError("assets_missing", message)
    parts = _Parts(settings)
    return Starlette(
        routes=parts.routes(),
        middleware=[
            Middleware(AccessLog),
            Middleware(SecurityHeaders, settings.frame_ancestors),
            Middleware(Framing),
            Middleware(KnownHosts, HostNames(settings.host_names)),
            Middleware(errors.Crashes),
        ],
        exception_handlers={
            errors.HttpError: errors.on_http_error,
            HTTPException: errors.on_http_exception,
        },
        lifespan=parts.lifespan,
    )


def capabilities(settings: Settings | None) -> dict[str, object]:
    """config.json: what this host offers beside static files; None is a host with only those."""
    return {
        "name": settings.name if settings else "Personae",
        "version": __version__,
        "proxy": bool(settings and settings.proxy),
        "reader": bool(settings and settings.reader),
        "relay": bool(settings and settings.relay_url),
        "relayModel": settings.relay_default if settings else "",
        "characters": bool(settings and settings.characters),
    }


class _Parts:
    """What the settings turn on, and what has to be closed at the end."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.drain = Drain(settings.grace)
        self.store = open_store(settings.rate_store)
        self.resolver = Resolver()
        self.closers: list[Callable[[], Awaitable[None]]] = []

    def routes(self) -> list[BaseRoute]:
        settings = self.settings
        routes: list[BaseRoute] = [Route("/config.json", self.config), Route("/healthz", health)]
        if settings.proxy:
            routes.append(Route("/proxy", self.proxy(), methods=["GET"]))
        if settings.reader:
            routes.append(Route("/read", self.reader(), methods=["GET"]))
        if settings.relay_url:
            relay = Relay(settings, self.store, self.drain)
            self.closers.append(relay.close)
            routes += relay.routes()
        if settings.characters:
            routes += Characters(settings.characters).routes()
        return [*routes, Mount("/", PlayerFiles(settings.static))]

    async def config(self, request: Request) -> Response:
        return JSONResponse(capabilities(self.settings), headers={"Cache-Control": "no-cache"})

    def proxy(self) -> proxy.PackageProxy:
        settings = self.settings
        rate = Rate(self.store, "proxy", settings.proxy_rate)
        cache = PackageCache(settings.cache, settings.cache_mib * 2**20) if settings.cache else None
        fetcher = self.fetcher(settings.proxy_hosts, proxy.SECONDS)
        places = Places(settings.proxy_streams)
        return proxy.PackageProxy(fetcher, rate, places, self.drain, cache)

    def reader(self) -> reader.PageReader:
        rate = Rate(self.store, "reader", self.settings.reader_rate)
        return reader.PageReader(self.fetcher(self.settings.reader_hosts, reader.SECONDS), rate)

    def fetcher(self, hosts: tuple[str, ...], seconds: float) -> Fetcher:
        guard = Guard(hosts, self.settings.proxy_ports, self.settings.proxy_networks)
        fetcher = Fetcher(guard, self.resolver, seconds)
        self.closers.append(fetcher.close)
        return fetcher

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        with self.drain.watching_signals():
            yield
        for close in self.closers:
            await close()


async def health(request: Request) -> Response:
    return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})
