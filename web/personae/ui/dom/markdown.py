"""Markdown in the page: the rendering module, loaded once, and one stream per message."""

from __future__ import annotations

from typing import Any

import personae_host

_module: list[Any] = []


async def prepare() -> None:
    """Loads the rendering module; streams may be opened after that."""
    if not _module:
        _module.append(await personae_host.load("render"))


def module() -> Any:
    return _module[0]


class Prose:
    """Text in an element as Markdown; grows by ``show`` with a longer text at a flat cost."""

    def __init__(self, element: Any) -> None:
        self.element = element
        self._shown = ""
        self._stream: Any = None
        self._ended = False

    def show(self, text: str, *, complete: bool, cut: bool = False) -> None:
        """Makes ``text`` the content; ``complete``: nothing will follow; ``cut``: it broke off."""
        if self._stream is None or self._ended or not text.startswith(self._shown):
            if self._ended and text == self._shown and complete:
                return
            self._start()
        new, self._shown = text[len(self._shown) :], text
        if complete:
            self._ended = True
            self._stream.end(new, cut)
        elif new:
            self._stream.push(new)

    def _start(self) -> None:
        self.close()
        self.element.replaceChildren()
        self._stream = module().openStream(self.element)
        self._shown, self._ended = "", False

    def close(self) -> None:
        if self._stream is not None:
            self._stream.dispose()
            self._stream = None
