"""Long work with its progress shown and a way to stop it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from personae.package.steps import Progress
from personae.ui.dom.elements import clone, document, part
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.templates import load_templates

T = TypeVar("T")

_PHASES = {"reading": "Reading", "hashing": "Checking", "saving": "Saving"}


class ProgressDialog:
    """One work at a time; Cancel and Escape stop it."""

    def __init__(self) -> None:
        self._dialog: Any = None
        self._task: asyncio.Future[Any] | None = None
        self._listeners = Listeners()

    async def run(self, title: str, work: Callable[[Progress], Coroutine[Any, Any, T]]) -> T | None:
        """The outcome of ``work``, which is given where to tell its progress; None: stopped."""
        await load_templates("settings")
        if self._dialog is None:
            self._dialog = clone("progress")
            document.body.appendChild(self._dialog)
            self._listeners.on(self._dialog, "close", lambda _: self._stop())
        part(self._dialog, "title").textContent = title
        self._heard("", 0, 0)
        self._dialog.showModal()
        self._task = task = asyncio.ensure_future(work(self._heard))
        try:
            await asyncio.wait([task])
        finally:
            self._stop()
            self._task = None
            self._dialog.close()
        return None if task.cancelled() else task.result()

    def _heard(self, phase: str, done: int, total: int) -> None:
        bar = part(self._dialog, "bar")
        if total:
            bar.value = min(1.0, done / total)
        else:
            bar.removeAttribute("value")
        words = f"{_PHASES.get(phase, 'Getting ready')}…"
        status = part(self._dialog, "status")
        if status.textContent != words:
            status.textContent = words

    def _stop(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
