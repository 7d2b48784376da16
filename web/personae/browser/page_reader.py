"""The host's page reader for studio.web.fetch (reference: studio.web rejection conditions)."""

from __future__ import annotations

from typing import Any

import js
import personae_host
from pyodide.ffi import JsException

from personae.bounded_json import load_json
from personae.browser.convert import error_message, options_to_js
from personae.errors import BridgeError


async def read_page(url: str, max_chars: int) -> dict[str, Any]:
    """{url, status, contentType, title, text, truncated}. Raises BridgeError with the reason."""
    query = f"url={js.encodeURIComponent(url)}&maxChars={max_chars}"
    options = options_to_js({"credentials": "same-origin", "cache": "no-store"})
    try:
        response = await js.fetch(f"{personae_host.root}read?{query}", options)
        text = str(await response.text())
    except JsException as error:
        raise BridgeError(
            "web_unreachable", f"The page reader did not answer: {error_message(error)}"
        ) from error
    try:
        answer: dict[str, Any] = load_json(text)
    except ValueError as error:
        raise BridgeError("web_failed", f"The page reader failed: {response.status}") from error
    if response.ok:
        return answer
    said = answer.get("error", {})
    raise BridgeError(str(said.get("code", "web_failed")), str(said.get("message", text)))
