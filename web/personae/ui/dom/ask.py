"""Short questions in a dialog: a text, or yes and no."""

from __future__ import annotations

import asyncio
from typing import Any

from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import clone, document, fill, part, show
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.templates import load_templates


class Asker:
    """One question at a time; Escape and Cancel answer None."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dialog: Any = None
        self._listeners = Listeners()
        self._answer: asyncio.Future[str | None] | None = None
        dispatcher.on("submit", "ask-ok", lambda *_: self._accept())

    async def text(self, title: str, value: str, ok: str) -> str | None:
        """The text the user gives, without spaces around it; None when they give up."""
        await self._show(title, "", ok)
        field = part(self._dialog, "input")
        show(field, True)
        field.value = value
        field.setAttribute("aria-label", title)
        field.select()
        field.focus()
        answer = await self._wait()
        return answer.strip() if answer and answer.strip() else None

    async def confirm(self, title: str, text: str, ok: str, *, cautious: bool = False) -> bool:
        """``cautious``: nobody asked for it, so that a key pressed by chance means no."""
        await self._show(title, text, ok)
        show(part(self._dialog, "input"), False)
        no = self._dialog.querySelector("[data-action=close-dialog]")
        (no if cautious else part(self._dialog, "ok")).focus()
        return await self._wait() is not None

    async def tell(self, title: str, text: str) -> None:
        """A message that is closed with one button."""
        await self._show(title, text, "Close")
        show(part(self._dialog, "input"), False)
        show(self._dialog.querySelector("[data-action=close-dialog]"), False)
        part(self._dialog, "ok").focus()
        await self._wait()
        show(self._dialog.querySelector("[data-action=close-dialog]"), True)

    async def _show(self, title: str, text: str, ok: str) -> None:
        await load_templates("dialogs")
        if self._dialog is None:
            self._dialog = clone("ask")
            document.body.appendChild(self._dialog)
            self._listeners.on(self._dialog, "close", lambda _: self._give(None))
        self._give(None)
        fill(self._dialog, title=title, text=text, ok=ok)
        self._dialog.showModal()

    async def _wait(self) -> str | None:
        self._answer = asyncio.get_running_loop().create_future()
        return await self._answer

    def _accept(self) -> None:
        self._give(str(part(self._dialog, "input").value))
        self._dialog.close()

    def _give(self, answer: str | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)
