"""The one boundary with JavaScript: values are normalised here, once.

Above this module there are only plain Python values. Functions come in pairs: a thin ``*_from_js``
or ``*_to_js``, and pure functions that never see a proxy.
"""

from __future__ import annotations

from typing import Any

import js
from pyodide.ffi import JsException, JsProxy, jsnull, to_js


def options_to_js(values: dict[str, Any]) -> JsProxy:
    """A plain JavaScript object (deep), for options of web APIs."""
    return to_js(values, dict_converter=js.Object.fromEntries)


def value_from_js(value: Any) -> Any:
    """Any JavaScript value as plain Python: undefined and null become None.

    Objects become dicts, arrays lists, buffers bytes. Meant for values from embedders, which may
    hold Python objects already.
    """
    if value is jsnull:
        return None
    if not isinstance(value, JsProxy):
        return value
    if js.ArrayBuffer.isView(value) or js.Object.prototype.toString.call(value) == (
        "[object ArrayBuffer]"
    ):
        return bytes_from_js(value)
    return value.to_py()


def bytes_from_js(buffer: Any) -> bytes:
    """A Uint8Array or ArrayBuffer, copied."""
    return bytes(js.Uint8Array.new(buffer).to_bytes())


def blob_to_js(text: str) -> JsProxy:
    """UTF-8 text as the body of a request: browsers send a blob without copying it in the page."""
    return js.Blob.new(to_js([text.encode()]))


def error_name(error: JsException) -> str:
    """The DOMException or Error name, e.g. ``AbortError``."""
    return str(getattr(error, "name", "Error"))


def error_message(error: JsException) -> str:
    return str(getattr(error, "message", error))
