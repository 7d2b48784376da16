"""ports.Notifier of the page: keeps what is said until the app is there to show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

Kind = Literal["toast", "warning", "storage"]


class UiNotifier:
    def __init__(self) -> None:
        self._early: list[tuple[Kind, str]] = []
        self._show: Callable[[Kind, str], None] | None = None

    def notify(self, kind: Kind, message: str) -> None:
        if self._show is None:
            self._early.append((kind, message))
        else:
            self._show(kind, message)

    def attach(self, show: Callable[[Kind, str], None]) -> None:
        """``show`` gets everything said so far, and everything after."""
        self._show = show
        for kind, message in self._early:
            show(kind, message)
        self._early.clear()
