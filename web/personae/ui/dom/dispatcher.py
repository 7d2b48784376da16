"""From an event anywhere in the page to the handler that its element names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from personae.ui.dom.elements import document, missing
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.tasks import Tasks

Handler = Callable[[Any, Any], Any]
"""Gets the element that carries the attribute, and the event; may return a coroutine."""


_KINDS = {"action": "click", "submit": "submit", "input": "input", "change": "change"}


class Dispatcher:
    """Delegated events: four listeners serve the whole page.

    ``data-action`` for clicks, ``data-submit`` for forms, ``data-input`` and ``data-change`` for
    fields name the handler that is registered here under the same name.
    """

    def __init__(self, tasks: Tasks, report: Callable[[BaseException], None]) -> None:
        self._tasks, self._report = tasks, report
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._listeners = Listeners()
        for kind, event in _KINDS.items():
            self._listeners.on(document, event, self._listener(kind))

    def on(self, kind: str, name: str, handler: Handler) -> None:
        self._handlers[kind, name] = handler

    def _listener(self, kind: str) -> Callable[[Any], None]:
        def dispatch(event: Any) -> None:
            target = event.target
            if not hasattr(target, "closest"):
                return
            element = target.closest(f"[data-{kind}]")
            if missing(element):
                return
            if kind == "submit":
                event.preventDefault()
            self._call(
                self._handlers.get((kind, element.getAttribute(f"data-{kind}"))), element, event
            )

        return dispatch

    def _call(self, handler: Handler | None, element: Any, event: Any) -> None:
        if handler is None:
            return
        try:
            outcome = handler(element, event)
        except Exception as error:
            self._report(error)
            return
        if asyncio.iscoroutine(outcome):
            self._tasks.start(outcome)
