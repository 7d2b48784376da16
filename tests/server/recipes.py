"""The recipes of docs/hosting.md, so that tests run what the documentation says."""

from __future__ import annotations

import re
from pathlib import Path

HOSTING = Path(__file__).parents[2] / "docs" / "hosting.md"


def recipes(language: str) -> list[str]:
    """The fenced blocks of ``language``, in the order they appear."""
    return re.findall(rf"```{language}\n(.*?)```", HOSTING.read_text("utf-8"), re.DOTALL)
