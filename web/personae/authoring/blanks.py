"""A program's text with its comments and the insides of its strings blanked.

Good enough to look for names: what is left stands where it stood. A `${…}` in a template is blanked
with it.
"""

from __future__ import annotations

import re

_SCRIPT = re.compile(
    r"""
    //[^\n]* | /\*.*?\*/
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | `(?:\\.|[^`\\])*`
    # Regular expressions.
    | (?<=[=(,:\[!&|?{};\n])[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/\w*
    """,
    re.VERBOSE | re.DOTALL,
)
_LUA = re.compile(
    r"""
    --\[(=*)\[.*?\]\1\] | --[^\n]*
    | \[(=*)\[.*?\]\2\]
    | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
    """,
    re.VERBOSE | re.DOTALL,
)


def blanked_script(source: str) -> str:
    """Of JavaScript or TypeScript."""
    return _SCRIPT.sub(_blank, source)


def blanked_lua(source: str) -> str:
    return _LUA.sub(_blank, source)


def _blank(match: re.Match[str]) -> str:
    """Quotes stay, so that a text is still something between commas."""
    text = match[0]
    inside = re.sub(r"[^\n]", " ", text)
    return text[0] + inside[1:-1] + text[-1] if text[0] in "\"'`" and len(text) > 1 else inside
