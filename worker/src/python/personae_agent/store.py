"""The agent's store: a dict for the agent, JSON text for the host.

Whether a call changed it is known from its own fields, which are compared by identity, and from
the containers within, see ``tracked``: what a call costs that changes nothing has nothing to do
with how much there is.
"""

from __future__ import annotations

from operator import is_
from typing import Any

from . import tracked
from .values import to_json


class Store:
    def __init__(self) -> None:
        self.load("{}")

    def load(self, text: str) -> None:
        """Takes over a store from the host."""
        self.value: dict[str, Any] = dict(tracked.parse(text))
        self._fields = dict(self.value)
        self._text = text
        tracked.forget()

    def save(self) -> str | None:
        """The store's JSON text if it changed, else None."""
        if not tracked.is_changed() and self._has_same_fields():
            return None
        text = to_json(self.value, "store")
        assert text is not None
        tracked.adopt(self.value)
        self._fields = dict(self.value)
        if text == self._text:
            return None
        self._text = text
        return text

    def _has_same_fields(self) -> bool:
        value, fields = self.value, self._fields
        return value.keys() == fields.keys() and all(
            map(is_, map(value.get, fields), fields.values())
        )
