"""What is read out to screen readers."""

from __future__ import annotations

from personae.ui import formats
from personae.ui.dom.elements import by_id


def announce(text: str) -> None:
    """Says ``text`` to screen readers, once."""
    by_id("announcer").textContent = formats.one_line(text, 2000)
