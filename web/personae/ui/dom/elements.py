"""Elements of the page: found, copied from templates, filled and shown.

Invariants: markup comes from templates; text goes in as ``textContent``.
"""

from __future__ import annotations

from typing import Any

import js
from pyodide.ffi import jsnull, to_js

document = js.document


def clone(template: str) -> Any:
    """A fresh copy of the element in ``<template id="t-{template}">``."""
    content = document.getElementById(f"t-{template}").content
    return document.importNode(content.firstElementChild, True)


def missing(value: Any) -> bool:
    """Whether JavaScript said null or undefined. (Truth is no test: an empty list is false.)"""
    return value is None or value is jsnull


def by_id(name: str) -> Any:
    return document.getElementById(name)


def part(root: Any, name: str) -> Any:
    """The element marked ``data-part="{name}"`` inside ``root``."""
    return root.querySelector(f"[data-part={name}]")


def fill(root: Any, **texts: str) -> None:
    """Sets the text of several parts."""
    for name, text in texts.items():
        part(root, name.replace("_", "-")).textContent = text


def show(element: Any, visible: bool) -> None:
    if element.hidden == visible:
        element.hidden = not visible


def mark(element: Any, name: str, on: bool) -> None:
    """Sets or removes the flag ``data-{name}`` (dashes as in HTML)."""
    element.toggleAttribute(f"data-{name}", on)


def options(**values: Any) -> Any:
    """Keyword arguments as a JavaScript object."""
    return to_js(values, dict_converter=js.Object.fromEntries)


def grow(box: Any) -> None:
    """Fits a text box to its text where the style sheet cannot (``field-sizing``)."""
    if not js.CSS.supports("field-sizing", "content"):
        box.style.setProperty("height", "auto")
        box.style.setProperty("height", f"{box.scrollHeight}px")
