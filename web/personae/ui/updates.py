"""The service worker: the app works offline, and a new version is offered, never forced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import JsException

from personae.ui.dom.elements import missing
from personae.ui.dom.listeners import Listeners
from personae.ui.notices.toasts import Toasts

_SCRIPT = "service-worker.js"
_HOUR = 3600.0
_LONG = 24 * _HOUR
"""Seconds the offer stays."""


class Updates:
    def __init__(self, toasts: Toasts, answering: Callable[[], bool]) -> None:
        self._toasts, self._answering = toasts, answering
        self._registration: Any = None
        self._asked = 0.0
        self._wanted = False
        self._listeners = Listeners()

    async def start(self) -> None:
        """Registers the worker where the browser allows one; quiet where it does not."""
        if not js.Reflect.has(js.navigator, "serviceWorker"):
            return
        workers = js.navigator.serviceWorker
        try:
            self._registration = await workers.register(_SCRIPT)
        except JsException:
            return  # private windows and odd hosts: the app works, only not offline
        self._asked = js.performance.now()
        self._listeners.on(workers, "controllerchange", self._changed)
        self._listeners.on(self._registration, "updatefound", self._found)
        self._listeners.on(js.document, "visibilitychange", self._seen)
        if not missing(self._registration.waiting):
            self._offer()

    def _found(self, _event: Any) -> None:
        worker = self._registration.installing
        if not missing(worker):
            self._listeners.on(worker, "statechange", lambda event: self._progressed(event.target))

    def _progressed(self, worker: Any) -> None:
        # The first worker of a browser is not a new version of anything.
        if worker.state == "installed" and not missing(js.navigator.serviceWorker.controller):
            self._offer()

    def _offer(self) -> None:
        self._toasts.show(
            "A new version of Personae is ready.", action="Start it", work=self._take, seconds=_LONG
        )

    def _take(self) -> None:
        if self._answering():
            self._toasts.show("It starts when the reply is finished: ask again then.")
            self._offer()
            return
        self._wanted = True
        self._registration.waiting.postMessage("activate")

    def _changed(self, _event: Any) -> None:
        if self._wanted:
            js.location.reload()

    def _seen(self, _event: Any) -> None:
        """Looks for a new version when the page is looked at again, at most once an hour."""
        now = js.performance.now()
        if js.document.hidden or now - self._asked < _HOUR * 1000:
            return
        self._asked = now
        self._registration.update()
