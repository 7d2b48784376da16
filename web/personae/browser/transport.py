"""fetch() as ports.ModelTransport.

Invariants: no cookies and no referrer go along; a redirect is an error, so that the key never
follows one to another host; cancelling closes the connection at once.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import js
import personae_host
from pyodide.ffi import JsException

from personae.browser.convert import (
    Blobs,
    bytes_from_js,
    error_message,
    error_name,
    options_to_js,
)
from personae.errors import ModelError
from personae.ports import HttpRequest


class FetchTransport:
    """ports.ModelTransport over the network."""

    def __init__(self) -> None:
        self._blobs = Blobs()

    async def open(self, request: HttpRequest) -> FetchResponse:
        abort = js.AbortController.new()
        options = {
            "method": request.method,
            "headers": dict(request.headers),
            "body": self._blobs.of(request.pieces) if request.pieces else None,
            "credentials": "omit",
            "referrerPolicy": "no-referrer",
            "cache": "no-store",
            "redirect": "error",
        }
        options = {name: value for name, value in options.items() if value is not None}
        prepared = options_to_js(options)
        prepared.signal = abort.signal
        pending = js.fetch(request.url, prepared)
        try:
            response = await pending
        except JsException as error:
            raise unreachable(request.url, error_message(error)) from error
        except BaseException:
            abort.abort()
            raise
        return FetchResponse(response, abort)


class FetchResponse:
    """ports.HttpResponse."""

    def __init__(self, response: Any, abort: Any) -> None:
        self.status: int = response.status
        self.url: str = response.url
        self.headers: Mapping[str, str] = {
            str(pair[0]).lower(): str(pair[1]) for pair in response.headers
        }
        self._next = personae_host.pieces(response.body) if response.body else None
        self._abort = abort

    async def chunks(self) -> AsyncIterator[bytes]:
        if self._next is None:
            return
        while True:
            try:
                piece = await self._next()
            except JsException as error:
                if error_name(error) == "AbortError":
                    return
                raise ModelError(
                    "model_connection_lost",
                    f"The connection to {self.url} broke while the answer arrived "
                    f"({error_message(error)}). Try again.",
                    url=self.url,
                    status=self.status,
                ) from error
            if piece is None:
                return
            yield bytes_from_js(piece)

    async def close(self) -> None:
        self._abort.abort()


def unreachable(url: str, reason: str) -> ModelError:
    """What a failed fetch means: the browser tells no more than that it failed."""
    online = bool(js.navigator.onLine)
    remedy = (
        "Check the base URL, that the server runs, and that it lets web pages ask it (CORS)."
        if online
        else "The device is offline."
    )
    return ModelError(
        "model_unreachable" if online else "model_offline",
        f"No answer from {url} ({reason}). {remedy}",
        url=url,
        status=None,
    )
