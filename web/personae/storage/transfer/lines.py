"""Records as lines of text: how a backup holds a table.

A line is ``{"key": [...], "value": "..."}`` and ends with a line feed, and with nothing else:
texts hold every other separator that Unicode knows. Invariant: what was written comes back as it
was, lone surrogates included. Long lines are read in pieces, so that none holds the page up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from personae.bounded_json import load_json
from personae.conversation.numbers import LARGEST
from personae.package.steps import Steps
from personae.ports import Key, Record

MAX_LINE = 32 << 20
"""Bytes; a store, the largest of all values, is a quarter of it at most."""
_LONG = 1 << 18
_PIECE = 1 << 18
_WINDOW = 1 << 22
_BLANK = 64
_START = re.compile(rb'\{"key": (\[[^\[\]]{1,500}\]), "value": "')
_END = b'"}'
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")

Position = tuple[int, int]
"""Where a line begins and ends in its file."""


class BadLine(ValueError):
    """A line that holds no record."""


def line_of(record: Record) -> bytes:
    text = json.dumps({"key": record.key, "value": record.value}, ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass") + b"\n"


def read_lines(data: bytes, take: Callable[[Key, str], Steps[None]]) -> Steps[int]:
    """Gives every record to ``take``; how many lines held none, or one that it refused.

    ``take`` raises BadLine for what it refuses.
    """
    bad = start = 0
    while start < len(data):
        end = yield from _line_end(data, start)
        if end - start > _BLANK or data[start:end].strip():
            try:
                key, value = yield from read_line(data, (start, end))
                yield from take(key, value)
            except BadLine:
                bad += 1
        start = end + 1
        yield "reading", start, len(data)
    return bad


def _line_end(data: bytes, start: int) -> Steps[int]:
    for window in range(start, len(data), _WINDOW):
        found = data.find(b"\n", window, window + _WINDOW)
        if found >= 0:
            return found
        yield "reading", window, len(data)
    return len(data)


def read_line(data: bytes, at: Position) -> Steps[tuple[Key, str]]:
    """Key and value of the record in a line. Raises BadLine."""
    start, end = at
    if end - start > MAX_LINE:
        raise BadLine("a line is too long")
    try:
        if end - start > _LONG:
            return (yield from _read_long(data[start:end]))
        item = load_json(data[start:end].decode("utf-8", "surrogatepass"))
        return _key(item["key"]), _text(item["value"])
    except (ValueError, TypeError, KeyError) as error:
        raise BadLine("a line holds no record") from error


def _read_long(line: bytes) -> Steps[tuple[Key, str]]:
    head = _START.match(line)
    line = line.rstrip()
    if head is None or not line.endswith(_END):
        raise BadLine("a line holds no record")
    text = line[head.end() : -len(_END)].decode("utf-8", "surrogatepass")
    pieces = []
    start = 0
    while start < len(text):
        end = _whole_escapes(text, start, start + _PIECE)
        pieces.append(json.loads(f'"{text[start:end]}"'))
        start = end
        yield "reading", start, len(text)
    value = "".join(pieces)
    if _PAIR.search(value):  # escapes of one character that were read apart
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return _key(json.loads(head[1])), value


def _whole_escapes(text: str, start: int, end: int) -> int:
    """Where a piece can end that may not tear an escape."""
    if end >= len(text):
        return len(text)
    for place in range(max(start, end - 5), end):
        if text[place] != "\\" or _backslashes_before(text, place) % 2:
            continue
        length = 6 if text[place + 1 : place + 2] == "u" else 2
        if place + length > end:
            return place + length
    return end


def _backslashes_before(text: str, place: int) -> int:
    count = 0
    while place > count and text[place - count - 1] == "\\":
        count += 1
    return count


def _key(value: object) -> Key:
    if not isinstance(value, list) or not value:
        raise BadLine("a key is a list")
    if not all(
        isinstance(part, str) or (type(part) is int and abs(part) <= LARGEST) for part in value
    ):
        raise BadLine("a key is made of texts and numbers")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadLine("a value is a text")
    return value
