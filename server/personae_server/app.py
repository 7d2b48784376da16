"""The application: which paths there are and what answers them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from personae.errors import UsageError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from personae_server import __version__, errors, proxy
from personae_server.characters import Characters
from personae_server.fetch import Fetcher
from personae_server.guard import Guard
from personae_server.headers import SecurityHeaders
from personae_server.settings import Settings
from personae_server.static import PlayerFiles


def create_app(settings: Settings) -> Starlette:
    """The ASGI application. Raises UsageError when the browser assets are not built."""
    if not (settings.static / "index.html").is_file():
        message = f"No player in {settings.static}: install the wheel, or build with `make run`."
        raise UsageError("assets_missing", message)
    fetchers: list[Fetcher] = []
    return Starlette(
        routes=_routes(settings, fetchers),
        middleware=[
            Middleware(SecurityHeaders, settings.frame_ancestors),
            Middleware(errors.Crashes),
        ],
        exception_handlers={
            errors.HttpError: errors.on_http_error,
            HTTPException: errors.on_http_exception,
        },
        lifespan=_closing(fetchers),
    )


def capabilities(settings: Settings | None) -> dict[str, object]:
    """config.json: what this host offers beside static files; None is a host with only those."""
    return {
        "name": settings.name if settings else "Personae",
        "version": __version__,
        "proxy": bool(settings and settings.proxy),
        "reader": False,
        "relay": False,
        "characters": bool(settings and settings.characters),
    }


def _routes(settings: Settings, fetchers: list[Fetcher]) -> list[BaseRoute]:
    async def config(request: Request) -> Response:
        return JSONResponse(capabilities(settings), headers={"Cache-Control": "no-cache"})

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"}, headers={"Cache-Control": "no-store"})

    routes: list[BaseRoute] = [Route("/config.json", config), Route("/healthz", health)]
    if settings.proxy:
        guard = Guard(settings.proxy_hosts, settings.proxy_ports, settings.proxy_networks)
        fetchers.append(Fetcher(guard, proxy.SECONDS))
        routes.append(Route("/proxy", proxy.PackageProxy(fetchers[-1]), methods=["GET"]))
    if settings.characters:
        routes += Characters(settings.characters).routes()
    return [*routes, Mount("/", PlayerFiles(settings.static))]


Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]


def _closing(fetchers: list[Fetcher]) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        for fetcher in fetchers:
            await fetcher.close()

    return lifespan
