"""Security headers, chosen by what a path is.

Three kinds: the sandbox frame (an opaque origin on every host, embeddable anywhere, with its
own policy in its markup), assets that other origins may load (the consumer library and the
hashed files), and everything else, which gets the page's Content-Security-Policy. A header the
response already carries is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from personae_server.metrics import path_of

FRAME = "/frame.html"
LIBRARY = "/character-player.js"
ASSETS = "/assets/"

_ODD = re.compile(r"//|\\|/\.\.?(/|$)")

_COMMON = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    # A link in a message would have its host looked up before anybody follows it.
    "X-DNS-Prefetch-Control": "off",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), "
    "payment=(), usb=()",
}
_EMBEDDABLE = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


def page_policy(frame_ancestors: Iterable[str]) -> str:
    """The page's CSP: own scripts only.

    PyScript makes a function from a string at start, so the page needs 'unsafe-eval'. The user
    chooses the model endpoint, so any http(s) address may be connected to.
    """
    directives = {
        "default-src": "'none'",
        "script-src": "'self' 'unsafe-eval' 'wasm-unsafe-eval'",
        "style-src": "'self'",
        "img-src": "'self' data: blob:",
        "font-src": "'self'",
        "connect-src": "* http: https: data: blob:",
        "worker-src": "'self' blob:",
        "frame-src": "'self'",
        "manifest-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": " ".join(frame_ancestors) or "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def is_plain(path: str) -> bool:
    """Whether ``path`` says where it leads: without empty parts, dots for folders, backslashes."""
    return not _ODD.search(path)


def headers_for(path: str, policy: str) -> Mapping[str, str]:
    """The headers of ``path`` (below the mount point, with a leading slash)."""
    if not is_plain(path):
        path = ""
    if path.endswith(FRAME):
        return _COMMON | _EMBEDDABLE | {"Content-Security-Policy": "sandbox allow-scripts"}
    page = _COMMON | {"Content-Security-Policy": policy}
    if path == LIBRARY or ASSETS in path:
        return page | _EMBEDDABLE
    return page | {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }


class SecurityHeaders:
    """ASGI middleware that completes every response with its headers."""

    def __init__(self, app: ASGIApp, frame_ancestors: Iterable[str]) -> None:
        self.app = app
        self.policy = page_policy(frame_ancestors)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        completed = headers_for(path_of(scope), self.policy)

        async def send_completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in completed.items():
                    headers.setdefault(name, value)
            await send(message)

        return await self.app(scope, receive, send_completed)
