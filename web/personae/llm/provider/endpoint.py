"""Where a model is reached, and the HTTP requests to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from personae.errors import ModelError
from personae.llm.request.encoded import encoded_body
from personae.ports import HttpRequest

_SCHEMES = ("https://", "http://", "rehearsal:", "/")
_CHAT = "/chat/completions"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``base_url``: what ``/chat/completions`` is appended to, e.g. ``https://host/v1``.

    A path on the page's own host (``/v1``) will do. The key may be empty.
    """

    base_url: str
    api_key: str = field(repr=False)
    model: str

    @property
    def base(self) -> str:
        """The base URL in its one spelling, without query. Raises ModelError when unusable."""
        return self._split()[0]

    @property
    def query(self) -> str:
        return self._split()[1]

    @property
    def chat_url(self) -> str:
        """For messages: without the query."""
        return self.base + _CHAT

    @property
    def models_url(self) -> str:
        """For messages: without the query."""
        return f"{self.base}/models"

    def chat_request(self, body: Mapping[str, Any]) -> HttpRequest:
        """Raises ModelError ``model_bad_settings`` when no request can be made of the settings."""
        if not self.model.strip():
            raise _bad_settings("No model is chosen. Choose one in the settings.")
        headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream" if body.get("stream") else "application/json",
        }
        url = self.chat_url + self.query
        return HttpRequest("POST", url, headers | self._authorization(), encoded_body(body))

    def models_request(self) -> HttpRequest:
        headers = {"Accept": "application/json"} | self._authorization()
        return HttpRequest("GET", self.models_url + self.query, headers)

    def hidden(self, text: str) -> str:
        """``text`` without the key and without the base URL's query, which may hold one."""
        for secret in (self.api_key.strip(), self.query.removeprefix("?")):
            if len(secret) >= 4:
                text = text.replace(secret, "[hidden]")
        return text

    def _split(self) -> tuple[str, str]:
        address, mark, query = self.base_url.strip().partition("?")
        address = address.rstrip("/").removesuffix(_CHAT).rstrip("/")
        if not self.base_url.strip().lower().startswith(_SCHEMES):
            raise _bad_settings(
                f'The base URL "{address}" must begin with https:// or http://. '
                "Correct it in the settings."
            )
        return address, mark + query

    def _authorization(self) -> dict[str, str]:
        key = self.api_key.strip()
        if not (key.isascii() and key.isprintable()):
            raise ModelError(
                "model_unauthorized",
                "The API key holds characters that no key has. Copy it again into the settings.",
                status=None,
                retryAfter=None,
            )
        return {"Authorization": f"Bearer {key}"} if key else {}


def _bad_settings(message: str) -> ModelError:
    return ModelError("model_bad_settings", message, status=None, retryAfter=None)
