"""Runs the application with uvicorn until a signal ends it."""

from __future__ import annotations

import socket

import uvicorn
from personae.errors import UsageError

from personae_server.app import create_app
from personae_server.settings import Settings


def serve(settings: Settings) -> None:
    """Listens, prints the URL, serves. Raises UsageError when it cannot listen."""
    app = create_app(settings)
    listener = listen(settings.host, settings.port)
    print(f"Personae is at {url_of(listener)} (Ctrl+C ends it)", flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
    uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        message = f"Cannot listen on {host} port {port} ({error.strerror}): try another --port."
        raise UsageError("listen_failed", message) from error


def url_of(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened on
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
