"""Fetches a character package for the page (interface: ``?loadCharacter=``).

A URL is fetched directly first; when the browser may not (CORS), through the host's proxy if it
offers one.
"""

from __future__ import annotations

from typing import Any

import js
import personae_host
from pyodide.ffi import JsException

from personae.bounded_json import load_json
from personae.browser.convert import error_message
from personae.errors import PackageError
from personae.package.sources import Arrived

LARGEST = 64 * 1024 * 1024


class PackageFetcher:
    """Environment.fetch_package. ``proxy``: whether the host offers ``/proxy``."""

    def __init__(self, *, proxy: bool) -> None:
        self._proxy = proxy

    async def __call__(self, url: str, arrived: Arrived) -> bytearray:
        href = checked_url(url)
        proxied = False
        try:
            response = await personae_host.fetchPackage(href)
        except JsException as error:
            if not self._proxy or js.URL.new(href).origin == js.location.origin:
                raise refused(url, error_message(error), proxy=self._proxy) from error
            response, proxied = await self._through_proxy(href), True
        if not response.ok:
            raise await proxy_failed(url, response) if proxied else failed(url, response)
        return await body_of(response, url, arrived)

    async def _through_proxy(self, url: str) -> Any:
        query = js.encodeURIComponent(url)
        try:
            return await personae_host.fetchPackage(f"{personae_host.root}proxy?url={query}")
        except JsException as error:
            raise refused(url, error_message(error), proxy=True) from error


def checked_url(url: str) -> str:
    """The absolute URL, http or https; a relative one is meant from the page's."""
    if not js.URL.canParse(url, js.location.href):
        raise PackageError("package_url_invalid", f"“{url}” is not a link. Paste a whole one.")
    parsed = js.URL.new(url, js.location.href)
    if parsed.protocol not in ("http:", "https:"):
        raise PackageError(
            "package_url_invalid", f"“{url}” is not a web link: only http and https work."
        )
    return str(parsed.href)


async def body_of(response: Any, url: str, arrived: Arrived) -> bytearray:
    """The whole body, at most LARGEST bytes."""
    length = response.headers.get("content-length")
    encoded = response.headers.get("content-encoding")
    total = int(length) if length and length.isdigit() and not encoded else None
    reader = response.body.getReader()
    # Filled in place: joining what arrived would hold the page up.
    body, size = bytearray(min(total or 0, LARGEST)), 0
    while True:
        try:
            step = await reader.read()
        except JsException as error:
            raise refused(url, error_message(error), proxy=False) from error
        if step.done:
            del body[size:]
            return body
        start, size = size, size + int(step.value.byteLength)
        if size > LARGEST:
            await reader.cancel()
            raise PackageError(
                "package_too_large",
                f"{url} is larger than {LARGEST // 2**20} MiB, the most a package may be.",
                url=url,
            )
        if size > len(body):
            body += bytes(max(size, len(body) * 3 // 2) - len(body))
        with memoryview(body) as room:
            step.value.assign_to(room[start:size])
        arrived(size, total)


def refused(url: str, reason: str, *, proxy: bool) -> PackageError:
    if not js.navigator.onLine:
        return PackageError("package_offline", f"The device is offline: {url} was not loaded.")
    remedy = (
        "Check the link, or download the file and open it here."
        if proxy
        else "The server may not allow other pages to read it (CORS): download the file and "
        "open it here."
    )
    return PackageError(
        "package_unreachable", f"{url} could not be loaded ({reason}). {remedy}", url=url
    )


async def proxy_failed(url: str, response: Any) -> PackageError:
    """The error for an answer of the proxy that is not a success: it says why in JSON."""
    text = str(await response.text())
    try:
        said = load_json(text)["error"]
        return PackageError(str(said["code"]), str(said["message"]), url=url)
    except (ValueError, KeyError, TypeError):
        return failed(url, response)


def failed(url: str, response: Any) -> PackageError:
    """The same of another server: whatever it says is not ours to say."""
    status = int(response.status)
    remedy = "The link may have moved: ask for a new one." if status in (404, 410) else ""
    return PackageError(
        "package_http_error",
        f"{url} answered with HTTP {status}. {remedy}".strip(),
        url=url,
        status=status,
    )
