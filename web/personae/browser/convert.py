"""Values across the boundary with JavaScript, as several adapters convert them.

What comes in is plain Python: the adapters beside this module hand on no proxy.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Blobs:
    """Makes blobs of texts; the longest piece of the last one is not encoded and copied again.

    Browsers send a blob without copying it in the page, also a blob within a blob.
    """

    def __init__(self) -> None:
        self._kept: tuple[str, Any] = ("", None)

    def of(self, pieces: Sequence[str]) -> JsProxy:
        """The pieces, one after another, as UTF-8."""
        longest = max(range(len(pieces)), key=lambda at: len(pieces[at]))
        if pieces[longest] is not self._kept[0]:
            self._kept = pieces[longest], _blob([pieces[longest].encode()])
        before, after = "".join(pieces[:longest]), "".join(pieces[longest + 1 :])
        return _blob([before.encode(), self._kept[1], after.encode()])


def _blob(parts: list[Any]) -> JsProxy:
    return js.Blob.new(to_js(parts))


def error_name(error: JsException) -> str:
    """The DOMException or Error name, e.g. ``AbortError``."""
    return str(getattr(error, "name", "Error"))


def error_message(error: JsException) -> str:
    return str(getattr(error, "message", error))
