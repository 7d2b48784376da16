"""Subscriptions: ``on(event, listener) -> unsubscribe`` (reference: Part 3, Events).

Invariant: a listener that raises disturbs neither the player nor the other listeners.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from typing import Any

from personae.errors import UsageError
from personae.protocol import protocol

EMISSIONS = tuple(protocol()["events"])
"""What embedders hear; ``protocol.json`` has what each event carries. ``agentLog``
and ``agentToast`` say in a second argument whose text it is: ``{agentId, characterName}``."""
EVENTS = (*EMISSIONS, "change")
"""``change`` is for the app: a value of ``conversation/changes.py``."""

Listener = Callable[..., object]
"""Gets the payload, and what comes with it if it takes so many arguments."""


class Events:
    def __init__(self) -> None:
        self._listeners: dict[str, list[Listener]] = {event: [] for event in EVENTS}

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Subscribes; the returned function unsubscribes. Raises UsageError ``unknown_event``."""
        if event not in self._listeners:
            raise UsageError(
                "unknown_event", f"There is no event {event!r}. Known: {', '.join(EVENTS)}."
            )
        listeners = self._listeners[event]
        listeners.append(listener)

        def off() -> None:
            if listener in listeners:
                listeners.remove(listener)

        return off

    def emit(self, event: str, payload: Any, *more: Any) -> None:
        for listener in tuple(self._listeners[event]):
            try:
                if more and _takes(listener, payload, *more):
                    listener(payload, *more)
                else:
                    listener(payload)
            except Exception:
                logging.getLogger("personae").exception("a listener of %r failed", event)

    def change(self, change: object) -> None:
        """Tells the app that something it shows has changed."""
        self.emit("change", change)

    def clear(self) -> None:
        for listeners in self._listeners.values():
            listeners.clear()


def _takes(listener: Listener, *arguments: Any) -> bool:
    try:
        inspect.signature(listener).bind(*arguments)
    except (TypeError, ValueError):  # too many, or a callable that does not say
        return False
    return True
