"""The frame of the page: which screen is shown, sidebar, theme, header, files dropped anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import js

from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, document, mark, missing, show
from personae.ui.dom.listeners import Listeners

Screen = Literal["start", "loading", "chat"]
THEMES = {"auto": "as the system", "light": "light", "dark": "dark"}
_THEME_KEY = "personae.theme"


class Shell:
    def __init__(self, dispatcher: Dispatcher, dropped: Callable[[Any], Any]) -> None:
        self._dropped = dropped
        self._opener: Any = None
        self._listeners = Listeners()
        dispatcher.on("action", "sidebar-open", lambda *_: self.open_sidebar())
        dispatcher.on("action", "sidebar-close", lambda *_: self.close_sidebar())
        dispatcher.on("action", "cycle-theme", lambda *_: self._cycle_theme())
        for event in ("dragenter", "dragover", "dragleave", "drop"):
            self._listeners.on(document, event, self._dragged)
        self._narrow = js.matchMedia("(max-width: 52rem)")
        self._listeners.on(self._narrow, "change", lambda _: self.close_sidebar())
        self._apply_theme(js.localStorage.getItem(_THEME_KEY) or "auto")

    def set_screen(self, screen: Screen) -> None:
        """Shows one; the others are taken out of reach."""
        document.body.dataset.screen = screen
        show(by_id("boot"), False)
        show(by_id("start"), screen == "start")
        show(by_id("loading"), screen == "loading")
        by_id("transcript").inert = screen != "chat"
        if screen != "chat":
            show(by_id("jump"), False)

    @property
    def screen(self) -> str:
        """The one that is shown; ``boot`` until the first is."""
        return str(document.body.dataset.screen)

    def set_title(self, name: str, detail: str = "") -> None:
        by_id("character-name").textContent = name
        document.title = f"{name} · Personae" if name != "Personae" else name
        if detail:
            document.title = f"{detail} · {name}"

    def set_model(self, label: str, kind: str) -> None:
        by_id("model-label").textContent = label
        by_id("model-chip").dataset.kind = kind
        by_id("model-chip").setAttribute("aria-label", f"Model: {label}. Open settings")

    def enable_chat_actions(self, on: bool) -> None:
        by_id("new-conversation").disabled = not on
        for button in list(by_id("bar-actions").querySelectorAll("button")):
            button.disabled = not on

    def open_sidebar(self) -> None:
        """On narrow screens the sidebar lies over the stage, which waits."""
        self._opener = document.activeElement
        sidebar = by_id("sidebar")
        mark(sidebar, "open", True)
        show(by_id("scrim"), True)
        by_id("stage").inert = True
        sidebar.querySelector(".sidebar-close").focus()

    def close_sidebar(self) -> bool:
        """Closes it where it lies over the stage; False when it was not open."""
        sidebar = by_id("sidebar")
        if not sidebar.hasAttribute("data-open"):
            return False
        mark(sidebar, "open", False)
        show(by_id("scrim"), False)
        by_id("stage").inert = False
        self._opener.focus()
        return True

    def _cycle_theme(self) -> None:
        names = list(THEMES)
        current = document.documentElement.dataset.theme or "auto"
        following = names[(names.index(current) + 1) % len(names)]
        js.localStorage.setItem(_THEME_KEY, following)
        self._apply_theme(following)

    def _apply_theme(self, theme: str) -> None:
        theme = theme if theme in THEMES else "auto"
        document.documentElement.dataset.theme = theme
        by_id("theme-button").setAttribute("aria-label", f"Theme: {THEMES[theme]}")
        by_id("theme-button").title = f"Theme: {THEMES[theme]}"

    def _dragged(self, event: Any) -> None:
        transfer = event.dataTransfer
        if missing(transfer) or "Files" not in list(transfer.types):
            return
        event.preventDefault()
        leaves = event.type == "dragleave" and missing(event.relatedTarget)
        show(by_id("drop-target"), not leaves and event.type != "drop")
        if event.type == "drop" and transfer.files.length:
            self._dropped(transfer.files.item(0))


def relay_url(host: dict[str, Any]) -> str:
    """The base URL of the host's own models; empty when it offers none."""
    return str(js.URL.new("v1", document.baseURI).href) if host.get("relay") else ""
