"""The help sheet: the keyboard shortcuts, and what is good to know."""

from __future__ import annotations

from typing import Any

from personae.ui.dom.elements import by_id, clone, document, part
from personae.ui.dom.templates import load_templates
from personae.ui.keyboard.shortcuts import SHORTCUTS, Shortcut


async def show_help(mac: bool) -> None:
    await load_templates("dialogs")
    dialog = document.querySelector("dialog.help")
    if not document.querySelectorAll("dialog.help").length:
        dialog = clone("help")
        document.body.appendChild(dialog)
        part(dialog, "keys").replaceChildren(*[_row(shortcut, mac) for shortcut in SHORTCUTS])
        version = by_id("app").getAttribute("data-version")
        part(dialog, "version").textContent = f"Personae {version}"
    dialog.showModal()


def _row(shortcut: Shortcut, mac: bool) -> Any:
    row = clone("key")
    text = f"{shortcut.text} (when it is focused)" if shortcut.message else shortcut.text
    part(row, "text").textContent = text
    for name in shortcut.keys(mac):
        key = clone("kbd")
        key.textContent = name
        part(row, "keys").appendChild(key)
    return row
