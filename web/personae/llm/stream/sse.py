"""Incremental decoder of an event stream: bytes in, events out.

Follows the WHATWG event-stream grammar: three line ends, one leading byte order mark, one
optional space after the colon, joined data lines, comments. Invariants: the events do not
depend on where the bytes were split; the work is linear in the bytes; one UTF-8 decoder serves
the whole response. Unlike a browser's EventSource, an event that the end of the stream cut
before its blank line is still reported (``finish``): providers leave that line out.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SseEvent:
    data: str
    type: str = "message"


class SseDecoder:
    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._line: list[str] = []
        """The pieces of the line that has not ended yet."""
        self._after_cr = False
        self._data: list[str] = []
        self._type = ""

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that these bytes complete."""
        return self._text(self._decoder.decode(data))

    def finish(self) -> list[SseEvent]:
        """The event that the end of the stream left open, if any."""
        events = self._text(self._decoder.decode(b"", final=True))
        events += self._ended("".join(self._line))
        self._line.clear()
        return events + self._ended("")

    def _text(self, text: str) -> list[SseEvent]:
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        if text.endswith("\r"):
            self._after_cr = True
        first, *rest = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._line.append(first)
        if not rest:
            return []
        lines = ["".join(self._line), *rest[:-1]]
        self._line = [rest[-1]]
        return [event for line in lines for event in self._ended(line)]

    def _ended(self, line: str) -> list[SseEvent]:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._type = value
        return []

    def _dispatch(self) -> list[SseEvent]:
        data, self._data = self._data, []
        type_, self._type = self._type, ""
        if not data:
            return []
        return [SseEvent("\n".join(data), type_ or "message")]
