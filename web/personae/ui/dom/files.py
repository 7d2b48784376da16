"""Files to and from the user's device."""

from __future__ import annotations

from typing import Any

import js
from pyodide.ffi import create_once_callable, to_js

from personae.browser.convert import bytes_from_js
from personae.ui.dom.elements import document, options


def save_file(name: str, content: str | bytes, media_type: str) -> None:
    """Offers ``content`` as a download called ``name``."""
    piece = content if isinstance(content, str) else to_js(content)
    blob = js.Blob.new(to_js([piece]), options(type=media_type))
    url = js.URL.createObjectURL(blob)
    link = document.createElement("a")
    link.href, link.download = url, safe_name(name)
    link.click()
    js.setTimeout(create_once_callable(lambda: js.URL.revokeObjectURL(url)), 60_000)


async def read_file(file: Any) -> bytes:
    return bytes_from_js(await file.arrayBuffer())


def safe_name(name: str) -> str:
    """``name`` without what file systems refuse; never empty."""
    kept = "".join(" " if letter in '\\/:*?"<>|' or ord(letter) < 32 else letter for letter in name)
    return " ".join(kept.split()).strip(". ") or "personae"


async def choose_folder() -> tuple[str, Any] | None:
    """Name and handle of a folder the user picks; None when they give up.

    Only where the File System Access API exists; ``can_choose_folder`` says so.
    """
    from pyodide.ffi import JsException

    try:
        handle = await js.showDirectoryPicker(options(mode="read"))
    except JsException as error:
        if getattr(error, "name", "") == "AbortError":
            return None
        raise
    return str(handle.name), handle


def can_choose_folder() -> bool:
    return bool(js.Reflect.has(js.window, "showDirectoryPicker"))


_SKIPPED = frozenset({"node_modules", ".git", "__pycache__", ".venv"})


async def read_folder(handle: Any, prefix: str = "") -> dict[str, bytes]:
    """All files below a directory handle by their path in it."""
    files: dict[str, bytes] = {}
    async for entry in handle.values():
        path = f"{prefix}{entry.name}"
        if entry.kind == "directory":
            if entry.name not in _SKIPPED:
                files |= await read_folder(entry, f"{path}/")
        else:
            files[path] = await read_file(await entry.getFile())
    return files


async def read_file_list(chosen: Any) -> tuple[str, dict[str, bytes]]:
    """Folder name and files of an ``<input webkitdirectory>``."""
    files: dict[str, bytes] = {}
    folder = ""
    for file in list(chosen):
        folder, _, path = str(file.webkitRelativePath).partition("/")
        if not _SKIPPED.intersection(path.split("/")[:-1]):
            files[path] = await read_file(file)
    return folder, files


async def copy_text(text: str, button: Any = None) -> None:
    """Puts ``text`` on the clipboard and lets the button say so for a moment."""
    await js.navigator.clipboard.writeText(text)
    if button is not None:
        use = button.querySelector("use")
        icon = use.getAttribute("href")
        use.setAttribute("href", "#i-check")
        button.classList.add("done")

        def restore() -> None:
            use.setAttribute("href", icon)
            button.classList.remove("done")

        js.setTimeout(create_once_callable(restore), 1500)
