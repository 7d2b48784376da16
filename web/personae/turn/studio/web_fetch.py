"""studio.web.fetch (reference: studio.web rejection conditions).

The host's page reader does the fetching and guards its own network; what can be told from the URL
alone is refused here, with the phrases the reference prescribes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from personae.errors import BridgeError, PersonaeError

DEFAULT_CHARS = 8_000
FEWEST_CHARS = 500
MOST_CHARS = 30_000

WebReader = Callable[[str, int], Awaitable[dict[str, Any]]]
"""The host's page reader: a URL and the most characters of text. Raises PersonaeError."""


async def fetch_page(reader: WebReader | None, allowed: bool, url: Any, options: Any) -> Any:
    """``{url, status, contentType, title, text, truncated}``. Raises BridgeError."""
    if reader is None or not allowed:
        raise BridgeError(
            "web_not_implemented",
            "studio.web.fetch is not implemented here: this player gives the character no web "
            "access.",
        )
    _check(url)
    try:
        page = await reader(url, max_chars(options))
    except PersonaeError as error:
        raise BridgeError(error.code, error.message) from error
    return _shaped(page, url)


def max_chars(options: Any) -> int:
    """``options.maxChars`` within its bounds; anything but a number means the default."""
    wanted = options.get("maxChars") if isinstance(options, Mapping) else None
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or wanted != wanted:
        return DEFAULT_CHARS
    return int(max(FEWEST_CHARS, min(MOST_CHARS, wanted)))


def _check(url: Any) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url if isinstance(url, str) else "")
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise _invalid(url) from None
    if not parts.scheme:
        raise _invalid(url)
    if parts.scheme not in ("http", "https"):
        raise BridgeError("web_bad_scheme", f"only http(s) pages can be read, not {url!r}")
    if not host or "\\" in url or any(c.isspace() for c in url) or "@" in parts.netloc:
        raise _invalid(url)
    if _is_private(host):
        raise BridgeError("web_blocked", f"blocked: {host} is a private network address")


def _is_private(host: str) -> bool:
    from ipaddress import ip_address

    name = host.rstrip(".")
    if name == "localhost" or name.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        return not ip_address(name.partition("%")[0]).is_global
    except ValueError:
        return False


def _shaped(page: Mapping[str, Any], url: str) -> dict[str, Any]:
    title = page.get("title")
    return {
        "url": str(page.get("url") or url),
        "status": int(page.get("status") or 0),
        "contentType": str(page.get("contentType") or ""),
        "title": None if title is None else str(title),
        "text": str(page.get("text") or ""),
        "truncated": bool(page.get("truncated")),
    }


def _invalid(url: Any) -> BridgeError:
    return BridgeError("web_bad_url", f"{str(url)[:200]!r} is not a valid URL")
