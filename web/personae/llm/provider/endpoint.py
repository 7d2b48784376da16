"""Where a model is reached, and the HTTP requests to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from personae.credentials import BadBaseUrl, BaseUrl, Credentials, hide, read_base_url
from personae.errors import ModelError
from personae.llm.provider.origin_headers import headers_for
from personae.llm.request.encoded import encoded_body
from personae.ports import HttpRequest

_CHAT = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``base_url``: what ``/chat/completions`` is appended to, e.g. ``https://host/v1``.

    A path on the page's own host (``/v1``) will do. Of ``credentials`` a request takes what was
    entered for the origin it goes to.
    """

    base_url: str
    credentials: Credentials
    model: str

    @property
    def base(self) -> str:
        """The base URL in its one spelling, without query. Raises ModelError when unusable."""
        return self._split().address

    @property
    def chat_url(self) -> str:
        """For messages: without the query."""
        return self.base + _CHAT

    @property
    def models_url(self) -> str:
        """For messages: without the query."""
        return f"{self.base}/models"

    @property
    def mark(self) -> str:
        """Short, and one for each base URL and model: who sent what only they get back."""
        written = self.base_url.strip().rstrip("/")
        return sha256(f"{written} {self.model}".encode()).hexdigest()[:12]

    def chat_request(self, body: Mapping[str, Any]) -> HttpRequest:
        """Raises ModelError ``model_bad_settings`` when no request can be made of the settings."""
        if not self.model.strip():
            raise _bad_settings("No model is chosen. Choose one in the settings.")
        url = self.chat_url + self._split().query
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if body.get("stream") else "application/json",
        }
        sent = headers | headers_for(url, self.credentials)
        return HttpRequest("POST", url, sent, encoded_body(body))

    def models_request(self) -> HttpRequest:
        url = self.models_url + self._split().query
        headers = {"Accept": "application/json"}
        return HttpRequest("GET", url, headers | headers_for(url, self.credentials, listing=True))

    def hidden(self, text: str) -> str:
        """``text`` without any key, and without the base URL's query."""
        return hide(self.credentials.hidden(text), self._split().query.removeprefix("?"))

    def _split(self) -> BaseUrl:
        try:
            return read_base_url(self.base_url)
        except BadBaseUrl as fault:
            raise _bad_settings(f"{fault} Correct it in the settings.") from None


def _bad_settings(message: str) -> ModelError:
    return ModelError("model_bad_settings", message, status=None, retryAfter=None)
