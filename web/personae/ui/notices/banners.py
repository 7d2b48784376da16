"""What went wrong, said until it is dealt with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, clone, fill, part, show
from personae.ui.notices.advice import Advice, advise

Work = Callable[[], Any]


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
        if advice.in_settings:
            part(banner, "action").textContent = "Open settings"
            show(part(banner, "action"), True)
        if retry is not None:
            self._retries[topic] = retry
            show(part(banner, "retry"), True)
        self._box.appendChild(banner)

    def clear(self, topic: str, *, below: bool = True) -> None:
        """Takes the banner of a topic away, and with ``below`` those of the topics below it."""
        for banner in list(self._box.children):
            own = str(banner.dataset.topic)
            if own == topic or (below and own.startswith(f"{topic}/")):
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
