"""Event listeners. Every proxy made for one is owned by one ``Listeners``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyodide.ffi import create_proxy

from personae.ui.dom.elements import options


class Listeners:
    """Event listeners with one owner; ``close`` removes them and frees their proxies."""

    def __init__(self) -> None:
        self._held: list[tuple[Any, str, Any]] = []

    def on(self, target: Any, event: str, handler: Callable[[Any], Any], **flags: bool) -> None:
        proxy = create_proxy(handler)
        target.addEventListener(event, proxy, options(**flags))
        self._held.append((target, event, proxy))

    def close(self) -> None:
        for target, event, proxy in self._held:
            target.removeEventListener(event, proxy)
            target.removeEventListener(event, proxy, True)
            proxy.destroy()
        self._held.clear()
