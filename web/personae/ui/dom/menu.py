"""Pop-up menus: one at a time, with keyboard, placed beside what opened them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import js

from personae.ui.dom.elements import clone, document, missing, part, show
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.tasks import Tasks


@dataclass(frozen=True, slots=True)
class Item:
    icon: str
    label: str
    work: Callable[[], Any]
    danger: bool = False
    key: str = ""


class Menus:
    def __init__(self, tasks: Tasks) -> None:
        self._tasks = tasks
        self._menu: Any = None
        self._opener: Any = None
        self._items: list[Item] = []
        self._listeners = Listeners()

    def open(self, opener: Any, items: Sequence[Item]) -> None:
        """Opens ``items`` beside ``opener``; choosing one closes the menu and does its work."""
        self.close()
        self._opener, self._items = opener, list(items)
        menu = self._menu = clone("menu")
        for number, item in enumerate(self._items):
            menu.appendChild(_button(item, number))
        opener.closest("dialog, main, nav, aside").appendChild(menu)
        self._listeners.on(menu, "click", self._clicked)
        self._listeners.on(menu, "keydown", self._key)
        self._listeners.on(menu, "toggle", self._toggled)
        menu.showPopover()
        _place(menu, opener)
        opener.setAttribute("aria-expanded", "true")
        menu.firstElementChild.focus()

    def close(self) -> None:
        if self._menu is None:
            return
        menu, self._menu = self._menu, None
        self._listeners.close()
        self._opener.setAttribute("aria-expanded", "false")
        menu.remove()

    def _clicked(self, event: Any) -> None:
        button = event.target.closest(".menu-item")
        if missing(button):
            return
        item, opener = self._items[int(button.dataset.number)], self._opener
        self.close()
        opener.focus(preventScroll=True)
        outcome = item.work()
        if hasattr(outcome, "__await__"):
            self._tasks.start(outcome)

    def _toggled(self, event: Any) -> None:
        if event.newState == "closed":
            inside = self._menu is not None and self._menu.contains(document.activeElement)
            opener = self._opener
            self.close()
            if inside or document.activeElement == document.body:
                opener.focus(preventScroll=True)

    def _key(self, event: Any) -> None:
        buttons = list(self._menu.querySelectorAll(".menu-item"))
        at = next((n for n, button in enumerate(buttons) if button.matches(":focus")), -1)
        moves = {"ArrowDown": at + 1, "ArrowUp": at - 1, "Home": 0, "End": -1}
        if event.key in moves:
            event.preventDefault()
            buttons[moves[event.key] % len(buttons)].focus()
        elif event.key == "Tab":
            event.preventDefault()
            self._menu.hidePopover()


def _button(item: Item, number: int) -> Any:
    button = clone("menu-item")
    button.dataset.number = str(number)
    part(button, "icon").setAttribute("href", f"#i-{item.icon}")
    part(button, "label").textContent = item.label
    button.classList.toggle("danger", item.danger)
    if item.key:
        part(button, "key").textContent = item.key
        show(part(button, "key"), True)
    return button


def _place(menu: Any, opener: Any) -> None:
    """Below the opener, above it where there is no room; inside the window always."""
    at, box = opener.getBoundingClientRect(), menu.getBoundingClientRect()
    left = at.right - box.width if at.right - box.width > 8 else at.left
    left = max(8.0, min(left, js.innerWidth - box.width - 8))
    below = at.bottom + 4
    top = below if below + box.height < js.innerHeight - 8 else at.top - box.height - 4
    menu.style.setProperty("left", f"{left:.0f}px")
    menu.style.setProperty("top", f"{max(8.0, top):.0f}px")
