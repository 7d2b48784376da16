"""ports.Notifier of the page: keeps what is said until the app is there to show it."""

from __future__ import annotations

from collections.abc import Callable

from personae.ports import Notice


class UiNotifier:
    def __init__(self) -> None:
        self._early: list[Notice] = []
        self._hear: Callable[[Notice], None] | None = None

    def notify(self, notice: Notice) -> None:
        if self._hear is None:
            self._early.append(notice)
        else:
            self._hear(notice)

    def attach(self, hear: Callable[[Notice], None]) -> None:
        """``hear`` gets everything said so far, and everything after."""
        self._hear = hear
        for notice in self._early:
            hear(notice)
        self._early.clear()
