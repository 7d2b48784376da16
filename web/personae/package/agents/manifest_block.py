"""Finds the comment that holds an agent's manifest (reference: The manifest).

JavaScript and TypeScript: the first ``/** */`` comment with a tag; Python: the module docstring;
Lua: a ``--[[ ]]`` comment. It comes before any code; other comments may stand before it.
Nothing is executed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from personae.ports import Language


@dataclass(frozen=True, slots=True)
class Block:
    """The inside of the comment. Line ends are ``\\n``."""

    text: str
    first_line: int
    """Line of the file, from 1, on which ``text`` begins."""


class NoManifest(ValueError):
    """Why there is no manifest, and on which line that shows."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


_JS_BEFORE = re.compile(
    r"""(?: \s+ | \#![^\n]* | //[^\n]* | (?:"use\ strict"|'use\ strict')\s*;? )*""", re.VERBOSE
)
_JS_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_PYTHON_BEFORE = re.compile(r"(?:\s+|#[^\n]*)*")
_PYTHON_OPENING = re.compile(r"""(?P<prefix>[rRuU]?)(?P<quote>\"\"\"|'''|"|')""")
_LUA_BEFORE = re.compile(r"(?:\s+|#![^\n]*|--(?!\[=*\[)[^\n]*)*")
_LUA_LONG = re.compile(r"--\[=+\[")
_TAG = re.compile(r"@agent\b")


def find_block(source: str, language: Language) -> Block:
    """The manifest's comment. Raises NoManifest."""
    text = source.replace("\r\n", "\n").replace("\r", "\n")
    return _FINDERS[language](text)


def _javascript(text: str) -> Block:
    at = _end(_JS_BEFORE, text, 0)
    while comment := _JS_COMMENT.match(text, at):
        if comment.group().startswith("/**") and _TAG.search(comment.group()):
            return _block(text, comment.start() + 3, comment.end() - 2)
        at = _end(_JS_BEFORE, text, comment.end())
    raise _absent(text, at, "a /** */ comment with an @agent line")


def _python(text: str) -> Block:
    at = _end(_PYTHON_BEFORE, text, 0)
    opening = _PYTHON_OPENING.match(text, at)
    if not opening:
        raise _absent(text, at, "a module docstring with an @agent line")
    closing = _closing(text, opening)
    if closing is None:
        raise NoManifest("the module docstring is not closed", _line(text, at))
    raw = text[opening.end() : closing]
    return Block(_unescape(raw, opening), _line(text, opening.end()))


def _lua(text: str) -> Block:
    at = _end(_LUA_BEFORE, text, 0)
    if _LUA_LONG.match(text, at):
        raise NoManifest(
            "a long-bracket comment such as --[==[ is not a manifest; use --[[ and ]]",
            _line(text, at),
        )
    if not text.startswith("--[[", at):
        raise _absent(text, at, "a --[[ ]] comment with an @agent line")
    closing = text.find("]]", at)
    if closing < 0:
        raise NoManifest("the --[[ comment is not closed", _line(text, at))
    return _block(text, at + 4, closing)


_FINDERS: dict[Language, Callable[[str], Block]] = {
    "javascript": _javascript,
    "typescript": _javascript,
    "python": _python,
    "lua": _lua,
}


def _closing(text: str, opening: re.Match[str]) -> int | None:
    """Where the docstring's closing quote begins."""
    quote = opening["quote"]
    at = opening.end()
    while at < len(text):
        if text.startswith(quote, at):
            return at
        if text[at] == "\n" and len(quote) == 1:
            return None
        at += 2 if text[at] == "\\" else 1
    return None


def _unescape(raw: str, opening: re.Match[str]) -> str:
    """The docstring's value, as Python reads it."""
    if "\\" not in raw or opening["prefix"] in ("r", "R"):
        return raw
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = ast.literal_eval(f"{opening.group()}{raw}{opening['quote']}")
        except (SyntaxError, ValueError):
            return raw
    return str(value)


def _block(text: str, start: int, end: int) -> Block:
    return Block(text[start:end], _line(text, start))


def _absent(text: str, at: int, expected: str) -> NoManifest:
    later = _TAG.search(text, at)
    if later:
        return NoManifest(
            f"the manifest must come before any code: {expected}", _line(text, later.start())
        )
    return NoManifest(f"the file has no manifest; it begins with {expected}")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
