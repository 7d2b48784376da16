"""Reads the body of a successful chat-completions response, whatever its header claims.

The first character decides: ``{`` or ``[`` is one JSON reply, ``<`` a web page, anything else
an event stream. Invariant: a page or other foreign body is described, never passed on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Literal

from personae.bounded_json import load_json
from personae.errors import ModelError
from personae.llm.provider import faults
from personae.llm.stream.finish_reasons import BAD_CALLS, normal_reason
from personae.llm.stream.reply import Reply
from personae.llm.stream.reply_assembly import Assembler, Delta
from personae.llm.stream.sse import SseDecoder, SseEvent

_BLANK = b" \t\r\n\xef\xbb\xbf"
_EXCERPT = 65536
"""Bytes of a foreign body that are looked at."""

_FIELDS = (":", "data", "event", "id", "retry", "\ufeff")

Kind = Literal["events", "json", "page"]


class ReplyBody:
    """``taken``: tool-call ids already used in the request. ``url``: for error messages."""

    def __init__(self, url: str, status: int, taken: Collection[str] = ()) -> None:
        self._url = url
        self._status = status
        self._assembler = Assembler(taken)
        self._decoder = SseDecoder()
        self._kind: Kind | None = None
        self._pieces: list[bytes] = []
        self._kept = 0

    @property
    def done(self) -> bool:
        """True when nothing more is due: the stream said so, or a page needs no more reading."""
        return self._assembler.done or (self._kind == "page" and self._kept > _EXCERPT)

    @property
    def finished(self) -> bool:
        """True when the reply itself is complete, though usage may still come."""
        return self._assembler.done or self._assembler.finish_reason is not None

    def feed(self, data: bytes) -> Iterator[Delta]:
        if self._kind != "events" or not self._assembler.recognised:
            self._keep(data)
        if self._kind is None:
            self._kind = _kind(data)
            data = b"".join(self._pieces)
        if self._kind == "events":
            yield from self._events(self._decoder.feed(data))

    def finish(self) -> Iterator[Delta | Reply]:
        """The last deltas and the Reply. Raises ModelError when there is no usable one."""
        if self._kind == "page":
            raise faults.web_page(self._status, self._url, self._excerpt())
        if self._kind == "json":
            yield from self._assembler.feed_chunk(self._json())
            # A document that could be read is whole, whether or not it says why it ended.
            self._assembler.done = True
        elif not self.done:
            yield from self._last_events()
        yield from self._assembler.close()
        if not self._assembler.recognised:
            self._explain()
        yield self._reply()

    def _reply(self) -> Reply:
        reply = self._assembler.reply()
        if not (reply.text.strip() or reply.tool_calls or reply.cut_calls or reply.pictures):
            if normal_reason(reply.finish_reason) in BAD_CALLS:
                raise faults.bad_call(str(reply.finish_reason))
            raise faults.empty_reply(reply)
        return reply

    def _events(self, events: list[SseEvent]) -> Iterator[Delta]:
        for event in events:
            if not self._assembler.done:
                yield from self._assembler.feed(event.data)

    def _last_events(self) -> Iterator[Delta]:
        """An event that the end of the stream cut matters only while the reply is unfinished."""
        try:
            yield from self._events(self._decoder.finish())
        except ModelError:
            if not self.finished:
                raise

    def _json(self) -> Any:
        text = b"".join(self._pieces).decode("utf-8-sig", "replace")
        try:
            return load_json(text)
        except ValueError:
            raise faults.not_json(self._status, self._url, self._excerpt()) from None

    def _explain(self) -> None:
        """Raises for a body that held something, but no chat completion."""
        if self._kind == "json":
            raise faults.bad_reply(self._status, self._url, faults.provider_words(self._json()))
        lines = self._excerpt().replace("\r", "\n").split("\n")
        if not all(line.strip().startswith(_FIELDS) for line in lines if line.strip()):
            raise faults.not_json(self._status, self._url, self._excerpt())

    def _keep(self, data: bytes) -> None:
        if self._kind == "json" or self._kept <= _EXCERPT:
            self._pieces.append(data)
            self._kept += len(data)

    def _excerpt(self) -> str:
        return b"".join(self._pieces)[:_EXCERPT].decode("utf-8", "replace")


def _kind(data: bytes) -> Kind | None:
    start = data.lstrip(_BLANK)[:1]
    if not start:
        return None
    if start in (b"{", b"["):
        return "json"
    return "page" if start == b"<" else "events"
