"""Short notes that go away by themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js
from pyodide.ffi import create_once_callable

from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, clone, fill, part, show
from personae.unicode import plain_line

Work = Callable[[], Any]
_MOST_TOASTS = 4


class Toasts:
    """At most four at a time."""

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
        topic: str = "",
    ) -> Work:
        """Shows ``text``; with ``action``, a button that does ``work`` once.

        ``agent``, ``character``: whose text it is when it is not ours. What it returns takes the
        toast away, as ``clear`` does with those of a topic.
        """
        toast = clone("toast")
        toast.dataset.topic = topic
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
        return lambda: self._close(toast)

    def clear(self, topic: str) -> None:
        for toast in list(self._box.children):
            if str(toast.dataset.topic) == topic:
                self._close(toast)

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
