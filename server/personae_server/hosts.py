"""Which names this server answers to: the guard against DNS rebinding.

A page of another site can point its own name at this machine and then read what is served here as
if it were its own: a relay on loopback or in a LAN, the characters, the proxy. It cannot choose the
``Host`` header, which says that name. So only names that no stranger can own are answered: IP
addresses, ``localhost``, this machine's own names, and what the operator adds.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable

import httpx
from personae.errors import UsageError
from starlette.types import ASGIApp, Receive, Scope, Send

from personae_server import metrics
from personae_server.errors import error_response

ANY = "*"
# What networks of one house put behind a machine's name; none of them is sold to anybody.
HOME_ENDINGS = ("", ".local", ".lan", ".home", ".home.arpa", ".internal", ".localdomain")
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*")


class HostNames:
    """The names that are answered, without a look-up of any."""

    def __init__(self, added: Iterable[str] = (), machine: str | None = None) -> None:
        """``added``: the operator's; ``*.example.com`` is every name below, ``*`` is any.

        Raises UsageError (``setting_invalid``) for what is no name.
        """
        own = (socket.gethostname() if machine is None else machine).lower()
        short = own.partition(".")[0]
        self._names = {own, *(short + ending for ending in HOME_ENDINGS)} if short else set()
        self._below = {".localhost"}
        self._any = False
        for name in added:
            self._add(name)

    def answers(self, host: str) -> bool:
        """``host``: a Host header's value."""
        if self._any:
            return True
        name = _without_port(host)
        if _is_address(name):
            return True
        name = name.lower().removesuffix(".")
        return name == "localhost" or name in self._names or name.endswith(tuple(self._below))

    def _add(self, name: str) -> None:
        if name == ANY:
            self._any = True
        elif name.startswith("*."):
            self._below.add(f".{_ascii(name[2:], name)}")
        else:
            self._names.add(_ascii(name, name))


class KnownHosts:
    """ASGI middleware: requests under another name are refused before anything is done."""

    def __init__(self, app: ASGIApp, names: HostNames) -> None:
        self.app = app
        self.names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        # No browser leaves it out: a request without one is no page's.
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        unknown = [host for host in hosts if not self.names.answers(host)]
        if not unknown:
            return await self.app(scope, receive, send)
        metrics.ERRORS.labels(metrics.route_of(scope), "host_unknown").inc()
        message = (
            f"This server does not answer to the name {_without_port(unknown[0])[:253]!r}. "
            "Whoever runs it can allow the name with --host-names."
        )
        return await error_response(421, "host_unknown", message)(scope, receive, send)


def _without_port(host: str) -> str:
    if host.startswith("["):
        name, _, rest = host[1:].partition("]")
        return name if not rest or rest.startswith(":") else host
    return host.partition(":")[0]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _ascii(name: str, given: str) -> str:
    """The name as browsers send it."""
    try:
        found = httpx.URL(f"http://{name}/").raw_host.decode("ascii").removesuffix(".")
    except (httpx.InvalidURL, ValueError):
        found = ""
    if not _NAME.fullmatch(found) or "/" in name:
        message = f"host_names has {given!r}: write names as player.example, *.example.com, or *."
        raise UsageError("setting_invalid", message)
    return found
