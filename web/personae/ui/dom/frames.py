"""When the app draws: in animation frames, and not while something is more urgent."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import js
from pyodide.ffi import create_proxy

from personae.ui.dom.elements import document

HOLD = 50
"""Milliseconds that drawing waits at most for what is more urgent."""


class Frames:
    """Batches DOM work: one callback per key and animation frame, all in one task."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        self._asked = self._held = False
        self._run_proxy = create_proxy(self._run)
        self._release_proxy = create_proxy(self.release)

    def schedule(self, key: Hashable, work: Callable[[], None]) -> None:
        """Runs ``work`` in the next frame; a later call with the same key replaces it."""
        self._waiting[key] = work
        self._ask()

    def hold(self) -> None:
        """Draws nothing until ``release``, which comes by itself after a moment."""
        if not self._held:
            self._held = True
            js.setTimeout(self._release_proxy, HOLD)

    def release(self, *_: Any) -> None:
        self._held = False
        if self._waiting:
            self._ask()

    def _ask(self) -> None:
        if self._asked or self._held:
            return
        self._asked = True
        if document.hidden:
            js.setTimeout(self._run_proxy, 200)  # hidden pages get no animation frames
        else:
            js.requestAnimationFrame(self._run_proxy)

    def _run(self, *_: Any) -> None:
        self._asked = False
        if self._held:
            return
        waiting, self._waiting = self._waiting, {}
        for work in waiting.values():
            try:
                work()
            except Exception as error:
                self._report(error)
