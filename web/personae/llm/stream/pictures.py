"""Pictures in a reply, whichever way a provider sends them.

Variants: a list ``images`` beside the text, or parts of the content; each an ``image_url`` (an
object with a URL, or the URL itself), a bare URL, or base64 with a type.
Invariant: only URLs come out that a page may show: https and http, and ``data:`` of a picture that
cannot hold a script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_EMBEDDED = re.compile(r"data:image/(?:png|jpe?g|gif|webp|avif);base64,[A-Za-z0-9+/=_-]+", re.I)
_REMOTE = re.compile(r"https?://[^\s\"'<>\\()]+", re.I)
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")


class Pictures:
    def __init__(self) -> None:
        self._urls: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._urls)

    def feed(self, value: Any) -> None:
        """Takes a picture or a list of them; what is none is passed over."""
        for one in value if isinstance(value, list) else [value]:
            url = _url(one)
            if url and (_EMBEDDED.fullmatch(url) or _REMOTE.fullmatch(url)):
                self._urls[url] = None

    def urls(self) -> tuple[str, ...]:
        """In the order in which they came, each once."""
        return tuple(self._urls)


def _url(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if not isinstance(value, Mapping):
        return ""
    for name in ("image_url", "url", "image", "source", "inline_data", "inlineData"):
        if found := _url(value.get(name)):
            return found
    kind = value.get("media_type") or value.get("mime_type") or value.get("mimeType") or "image/png"
    for name in ("b64_json", "base64", "data", "result"):
        data = value.get(name)
        if isinstance(data, str) and _BASE64.fullmatch(data):
            return f"data:{kind};base64,{data}"
    return ""
