"""The letters and the colour that stand for a character."""

from __future__ import annotations

from typing import Any

from personae.ui import formats


def paint_monogram(element: Any, name: str) -> None:
    element.textContent = formats.initials(name)
    element.style.setProperty("--hue", str(formats.hue(name)))
