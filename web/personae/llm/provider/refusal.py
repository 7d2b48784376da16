"""Reads the body of an HTTP error and tells what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from personae.bounded_json import load_json
from personae.errors import ModelError
from personae.llm.provider import faults
from personae.llm.provider.retry import retry_after
from personae.ports import HttpResponse

_READ = 65536
"""Bytes of an error body that are read."""


class RefusalBody:
    """``now``: milliseconds since the epoch. ``url``: for the message."""

    finished = False

    def __init__(self, response: HttpResponse, url: str, now: int) -> None:
        self._response = response
        self._url = url
        self._now = now
        self._data = b""

    @property
    def done(self) -> bool:
        return len(self._data) >= _READ

    def feed(self, data: bytes) -> Iterator[NoReturn]:
        self._data = (self._data + data)[:_READ]
        return iter(())

    def finish(self) -> Iterator[NoReturn]:
        """Raises the ModelError that the status and the body stand for."""
        error = self._error(self._data.decode("utf-8", "replace").strip())
        wait = retry_after(self._response.headers, self._now)
        raise error if wait is None else faults.waiting(error, wait)

    def _error(self, text: str) -> ModelError:
        status = self._response.status
        if not text.startswith("<"):
            return faults.refusal(status, _words(text))
        if status in (401, 403, 408, 429) or status >= 500:
            return faults.refusal(status, {"message": faults.page_title(text)})
        return faults.web_page(status, self._url, text)


def _words(text: str) -> dict[str, Any]:
    try:
        return faults.provider_words(load_json(text))
    except ValueError:
        return {"message": text}
