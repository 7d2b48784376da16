"""The macros of a sub-agent's prompt: which there are, and what an author can get wrong.

The player expands ``%%CHARACTER_INSTRUCTIONS%%``, which no agent can read; the sub-agent's
runtime expands the others when it is called.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice

from personae.package.report import Report

MAX_CHECKED = 1000
"""Macros of one prompt that are looked at."""

INSTRUCTIONS = "%%CHARACTER_INSTRUCTIONS%%"
_PLAIN = {"CONTEXT", "HISTORY", "CHARACTER_NAME", "CHARACTER_INSTRUCTIONS"}
_MACRO = re.compile(r"%%([A-Z][A-Z_]*)(?::([^%\n]*))?%%")


def expand_instructions(body: str, instructions: str) -> str:
    return body.replace(INSTRUCTIONS, instructions)


def check_macros(
    body: str,
    first_line: int,
    path: str,
    report: Report,
    *,
    fields: Collection[str],
    stores: Collection[str],
) -> None:
    """Warns of each macro that stays as written or expands to nothing.

    ``fields``: the tool's parameters; ``stores``: what ``%%STORE:ref%%`` may refer to.
    """
    for match in islice(_MACRO.finditer(body), MAX_CHECKED):
        reason = _reason(match[1], match[2], fields, stores)
        if reason:
            line = first_line + body.count("\n", 0, match.start())
            report.warning(path, f"{match[0]} {reason}", line)


def _reason(
    name: str, argument: str | None, fields: Collection[str], stores: Collection[str]
) -> str | None:
    if name == "ARG" and argument:
        return None if argument in fields else "is no parameter of this sub-agent"
    if name == "STORE" and argument:
        return None if argument in stores else "is no agent granted to this sub-agent"
    if name in _PLAIN and argument is None:
        return None
    return "is no macro; it stays as written"
