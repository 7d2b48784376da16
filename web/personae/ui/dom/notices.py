"""Toasts, error banners, and what is read out to screen readers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import create_once_callable

from personae.ui import formats
from personae.ui.dom.page_dom import Dispatcher, by_id, clone, fill, part, show
from personae.ui.remedies import Advice, advise
from personae.unicode import plain_line

Work = Callable[[], Any]
_MOST_TOASTS = 4


class Toasts:
    """Short notes that go away by themselves; at most four at a time."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._box = by_id("toasts")
        self._actions: dict[str, Work] = {}
        self._number = 0
        dispatcher.on(
            "action", "toast-close", lambda element, _: self._close(element.closest(".toast"))
        )
        dispatcher.on("action", "toast-action", self._act)

    def show(
        self,
        text: str,
        *,
        action: str = "",
        work: Work | None = None,
        seconds: float = 5,
        agent: str = "",
        character: str = "",
    ) -> None:
        """Shows ``text``; with ``action``, a button that does ``work`` once.

        ``agent``, ``character``: whose text it is when it is not ours.
        """
        toast = clone("toast")
        fill(toast, text=text)
        if agent:
            fill(toast, agent=plain_line(agent, 60), character=character)
            toast.dataset.source = "agent"
        show(part(toast, "from"), bool(agent))
        self._number += 1
        toast.dataset.number = str(self._number)
        if work is not None:
            button = part(toast, "action")
            button.textContent = action
            show(button, True)
            self._actions[str(self._number)] = work
        self._box.appendChild(toast)
        while self._box.children.length > _MOST_TOASTS:
            # An agent's makes room first: it pushes out none of ours.
            foreign = self._box.querySelector("[data-source=agent]")
            self._close(foreign or self._box.firstElementChild)
        self._close_later(toast, seconds)

    def _close_later(self, toast: Any, seconds: float) -> None:
        def close() -> None:
            # Someone who points at it or is inside it has not finished with it.
            if toast.matches(":hover, :focus-within"):
                self._close_later(toast, 2)
            else:
                self._close(toast)

        js.setTimeout(create_once_callable(close), seconds * 1000)

    def _close(self, toast: Any) -> None:
        self._actions.pop(str(toast.dataset.number), None)
        toast.remove()

    def _act(self, element: Any, _event: Any) -> Any:
        toast = element.closest(".toast")
        work = self._actions.pop(str(toast.dataset.number), None)
        self._close(toast)
        return work() if work else None


class Banners:
    """Errors that stay until they are dealt with: one per topic, newest last.

    A topic can have others below it (``turn/an.agent``), which are cleared with it.
    """

    def __init__(self, dispatcher: Dispatcher, open_settings: Work) -> None:
        self._box, self._open_settings = by_id("banners"), open_settings
        self._retries: dict[str, Work] = {}
        dispatcher.on("action", "banner-close", lambda element, _: self.clear(_topic(element)))
        dispatcher.on("action", "banner-action", self._act)
        dispatcher.on("action", "banner-retry", self._retry)

    def show_error(
        self, error: BaseException, *, topic: str = "error", retry: Work | None = None
    ) -> None:
        self.show(advise(error), topic=topic, retry=retry)

    def show(
        self, advice: Advice, *, topic: str, retry: Work | None = None, quiet: bool = False
    ) -> None:
        self.clear(topic)
        banner = clone("banner")
        banner.dataset.topic = topic
        if quiet:
            banner.dataset.tone = "quiet"
        fill(banner, title=advice.title, remedy=advice.remedy, detail=advice.detail)
        show(part(banner, "detail-box"), bool(advice.detail))
        if advice.action == "settings":
            part(banner, "action").textContent = "Open settings"
            show(part(banner, "action"), True)
        if retry is not None:
            self._retries[topic] = retry
            show(part(banner, "retry"), True)
        self._box.appendChild(banner)

    def clear(self, topic: str) -> None:
        for banner in list(self._box.children):
            own = str(banner.dataset.topic)
            if own == topic or own.startswith(f"{topic}/"):
                self._retries.pop(own, None)
                banner.remove()

    def _act(self, element: Any, _event: Any) -> Any:
        self.clear(_topic(element))
        return self._open_settings()

    def _retry(self, element: Any, _event: Any) -> Any:
        topic = _topic(element)
        work = self._retries.get(topic)
        self.clear(topic)
        return work() if work else None


def _topic(element: Any) -> str:
    return str(element.closest(".banner").dataset.topic)


def announce(text: str) -> None:
    """Says ``text`` to screen readers, once."""
    by_id("announcer").textContent = formats.one_line(text, 2000)
