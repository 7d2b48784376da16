"""The YAML front matter of a prompt file, and the body behind it.

Read with ruamel.yaml's safe loader (YAML 1.2: ``no`` is a text, a repeated key an error). Only
what JSON has gets through: anchors, dates and non-text keys are refused, with their line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MAX_CHARACTERS = 1 << 13
"""Of front matter; in a browser the library takes a tenth of a second for this much."""

MAX_DEPTH = 40

_FENCE = re.compile(r"---[ \t]*\r?\n")
_END = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


class FrontMatterFault(ValueError):
    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        """In the file, from 1."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    text: str
    """The YAML between the fences; its first line is the file's second."""
    values: dict[str, Any]
    body: str
    """Without the blank lines in front of it."""
    body_line: int
    """The line of the file on which the body begins."""

    def line(self, path: Sequence[str | int]) -> int | None:
        """The file's line of the value at ``path``, or of the nearest value above it."""
        from ruamel.yaml import YAML

        node = YAML(typ="safe", pure=True).compose(self.text)
        for key in path:
            node = _child(node, key) or node
        return None if node is None else int(node.start_mark.line) + 2


def read_front_matter(source: str) -> FrontMatter:
    """Splits and parses a prompt file. Raises FrontMatterFault."""
    opening = _FENCE.match(source)
    if not opening:
        raise FrontMatterFault("the file begins with front matter between two lines of ---", 1)
    closing = _END.search(source, opening.end())
    if not closing:
        raise FrontMatterFault("the front matter is not closed by a line of ---", 1)
    text = source[opening.end() : closing.start()]
    if len(text) > MAX_CHARACTERS:
        raise FrontMatterFault(f"the front matter is longer than {MAX_CHARACTERS:,} characters", 1)
    rest = source[closing.end() :]
    body = rest.lstrip("\r\n")
    body_line = source.count("\n", 0, len(source) - len(body)) + 1
    return FrontMatter(text, _parse(text), body, body_line)


def _parse(text: str) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        _refuse_tricks(text)
        value = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise _explained(error) from None
    except FrontMatterFault:
        raise
    except (ValueError, OverflowError) as error:
        raise FrontMatterFault(f"a value cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise FrontMatterFault("the front matter is a list of 'key: value' lines", 2)
    return _plain_object(value)


def _refuse_tricks(text: str) -> None:
    """Aliases and deep nesting, with which a short text costs much time or memory."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        if isinstance(event, AliasEvent):
            message = "anchors and aliases are not supported; repeat the value"
            raise FrontMatterFault(message, event.start_mark.line + 2)
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise FrontMatterFault("the value is nested too deeply", event.start_mark.line + 2)


def _explained(error: Any) -> FrontMatterFault:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error).split("\n")[0]
    hint = "; put the text in quotes" if "mapping values" in problem else ""
    return FrontMatterFault(f"not valid YAML: {problem}{hint}", mark.line + 2 if mark else None)


def _plain_object(value: dict[Any, Any]) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise FrontMatterFault(f"the key {key!r} is no text; put it in quotes")
    return {key: _plain(inner) for key, inner in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _plain_object(value)
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise FrontMatterFault(f"{value} is no number that JSON has")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise FrontMatterFault(f"{value} is a {type(value).__name__}; put it in quotes")


def _child(node: Any, key: str | int) -> Any:
    if node.id == "mapping":
        return next((value for name, value in node.value if name.value == key), None)
    if node.id == "sequence" and isinstance(key, int) and key < len(node.value):
        return node.value[key]
    return None
