"""The agent's store: a real dict for the agent, JSON text for the host.

Whether a call changed it is told from its marshalled form, which costs about a millisecond for a
megabyte and tells an int from a float and a list from a tuple. What cannot be marshalled was not
there when the store came in.
"""

from __future__ import annotations

import json
import marshal
from typing import Any

from .values import to_json

# The last version without references, whose form depends on nothing but the value.
_VERSION = 2


class Store:
    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._text = "{}"
        self._form = b""

    def load(self, text: str) -> None:
        """Takes over a store from the host."""
        self.value = json.loads(text)
        self._text = text
        self._form = marshal.dumps(self.value, _VERSION)

    def save(self) -> str | None:
        """The store's JSON text if it changed, else None."""
        try:
            form = marshal.dumps(self.value, _VERSION)
        except ValueError:
            form = b""
        if form and form == self._form:
            return None
        text = to_json(self.value, "store")
        assert text is not None
        self._form = form
        if text == self._text:
            return None
        self._text = text
        return text
