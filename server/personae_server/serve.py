"""Runs the application with uvicorn, in one process or several, until a signal ends it."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvicorn
from personae.errors import UsageError
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from personae_server import logs, metrics
from personae_server.app import create_app
from personae_server.protocol import LimitedProtocol
from personae_server.settings import Settings, as_environment, read_settings

# After the grace period, what is left gets this long to end.
ENDING_SECONDS = 5
OPEN_FILES = 16_384


def serve(flags: Mapping[str, Any]) -> None:
    """Listens, prints the URL, serves. Raises UsageError when it cannot."""
    settings = read_settings(flags, os.environ)
    logs.set_up(settings.log, settings.relay_key)
    _open_files()
    app = create_app(settings)
    listener = listen(settings.host, settings.port)
    with _metrics(settings):
        print(f"Personae is at {url_of(listener)} (Ctrl+C ends it)", flush=True)
        if settings.workers == 1:
            uvicorn.Server(_config(settings, app)).run(sockets=[listener])
            return
        # Worker processes read the settings anew, from the environment they inherit.
        os.environ.update(as_environment(flags))
        config = _config(settings, "personae_server.serve:worker_app", factory=True)
        Multiprocess(config, sockets=[listener]).run()


def worker_app() -> Starlette:
    """The application of one worker process."""
    settings = read_settings({}, os.environ)
    logs.set_up(settings.log, settings.relay_key)
    return create_app(settings)


def _open_files() -> None:
    """As many files and connections as this user may have: the usual 1024 are soon used up."""
    if sys.platform != "win32":
        import resource

        soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(OPEN_FILES, most)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
        # Connections inherit it. Without, what is small waits for the client's word, 40 ms often:
        # every answer after a connection's first, and every token.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listener
    except OSError as error:
        message = f"Cannot listen on {host} port {port} ({error.strerror}): try another --port."
        raise UsageError("listen_failed", message) from error


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened on
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _config(settings: Settings, app: Starlette | str, factory: bool = False) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        factory=factory,
        http=LimitedProtocol,
        ws="none",
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_graceful_shutdown=round(settings.grace) + ENDING_SECONDS,
    )


@contextmanager
def _metrics(settings: Settings) -> Iterator[None]:
    """The metrics' own server, in the process that starts the others."""
    if not settings.metrics_port:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="personae-metrics-") as folder:
        if settings.workers > 1:
            os.environ[metrics.SHARED] = folder
        try:
            server = metrics.serve_metrics(settings.metrics_host, settings.metrics_port)
        except OSError as error:
            message = f"Cannot listen on metrics_port {settings.metrics_port}: {error.strerror}"
            raise UsageError("listen_failed", message) from error
        try:
            yield
        finally:
            server.shutdown()
