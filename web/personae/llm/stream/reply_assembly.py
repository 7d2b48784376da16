"""Assembles a streamed chat completion into one ``Reply``.

Takes the data of each event, or the whole body when a provider answers a streaming request
with plain JSON. Odd chunks (empty choices, no delta, null delta, keep-alives) are skipped; an
error object inside the stream is raised. finish_reason is a hint only: complete tool calls
count whatever it says. Invariants: the reply does not depend on how the provider cut it; the
work is linear in the bytes; everything that comes out is well-formed Unicode.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from personae.bounded_json import load_json
from personae.llm.provider import faults
from personae.llm.stream.call_deltas import CallAssembler
from personae.llm.stream.message_fields import MessageFields
from personae.llm.stream.pictures import Pictures
from personae.llm.stream.reply import (
    ReasoningDelta,
    Reply,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
)
from personae.llm.stream.think_tags import ThinkFilter
from personae.unicode import PairJoiner, well_formed_json

_TEXT_PARTS = ("text", "output_text", None)
_THINKING_PARTS = ("thinking", "reasoning")

Delta = TextDelta | ReasoningDelta | TextWasReasoning | ToolCallDelta


class Assembler:
    """``taken``: tool-call ids already used in the request; a reply's own ids avoid them."""

    def __init__(self, taken: Collection[str] = ()) -> None:
        self.done = False
        """True after ``[DONE]``."""
        self.finish_reason: str | None = None
        self.recognised = False
        """True once anything looked like a chat completion."""
        self._calls = CallAssembler(taken)
        self._fields = MessageFields()
        self._pictures = Pictures()
        self._filter = ThinkFilter()
        self._text_pairs, self._reasoning_pairs = PairJoiner(), PairJoiner()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._usage: dict[str, Any] = {}

    def feed(self, data: str) -> Iterator[Delta]:
        """Takes one event's data. Raises ModelError for an error object or broken JSON."""
        data = data.strip()
        if data == "[DONE]":
            self.done = True
        elif data.startswith(("{", "[{")):
            yield from self.feed_chunk(_parsed(data))

    def feed_chunk(self, chunk: Any) -> Iterator[Delta]:
        """Takes one chunk, or a whole reply. Raises ModelError for an error object."""
        if isinstance(chunk, list) and len(chunk) == 1:
            chunk = chunk[0]
        if not isinstance(chunk, Mapping):
            return
        faults.raise_for_error_object(chunk)
        self._note(chunk)
        for choice in _items(chunk.get("choices")):
            if choice.get("index") in (0, None):
                faults.raise_for_error_object(choice)
                yield from self._choice(choice)

    def close(self) -> Iterator[Delta]:
        """What was held back; to be called once, at the end."""
        yield from self._speech(self._text_pairs.finish())
        yield from self._kept(self._filter.finish())
        yield from self._thought(self._reasoning_pairs.finish())

    def reply(self) -> Reply:
        """The assembled message; ``close`` comes first."""
        reply = Reply(
            text="".join(self._text),
            reasoning="".join(self._reasoning).strip() or None,
            finish_reason=self.finish_reason,
            usage=self._usage,
            ended=self.finish_reason is not None or self.done,
            reasoning_fields=self._fields.fields(),
            pictures=self._pictures.urls(),
        )
        whole, broken = self._calls.finish(reply.cut is not None)
        return replace(reply, tool_calls=whole, cut_calls=broken)

    def _note(self, chunk: Mapping[str, Any]) -> None:
        self.recognised = self.recognised or isinstance(chunk.get("choices"), list)
        self._count(chunk.get("usage"))

    def _count(self, usage: Any) -> None:
        if isinstance(usage, Mapping) and usage:
            self._usage = well_formed_json(usage)

    def _choice(self, choice: Mapping[str, Any]) -> Iterator[Delta]:
        self._count(choice.get("usage"))
        delta = choice.get("delta")
        if not isinstance(delta, Mapping):
            delta = self._message(choice)
        yield from self._delta(delta)
        reason = choice.get("finish_reason")
        reason = reason.get("type") if isinstance(reason, Mapping) else reason
        if isinstance(reason, str) and reason:
            self.finish_reason = reason

    def _message(self, choice: Mapping[str, Any]) -> Mapping[str, Any]:
        """A whole message, unless it only repeats what was streamed."""
        message = choice.get("message")
        streamed = self._text or self._reasoning or self._calls or self._pictures
        return message if isinstance(message, Mapping) and not streamed else {}

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Delta]:
        if words := self._fields.feed(delta):
            self._filter.trust_text()
            yield from self._thought(self._reasoning_pairs.feed(words))
        for name in ("content", "refusal"):
            yield from self._content(delta.get(name))
        for name in ("images", "image"):
            self._pictures.feed(delta.get(name))
        for call in _items(delta.get("tool_calls")):
            if named := self._calls.feed(call):
                yield ToolCallDelta(*named)

    def _content(self, content: Any) -> Iterator[Delta]:
        if isinstance(content, str):
            yield from self._speech(self._text_pairs.feed(content))
        for part in _items(content):
            if part.get("type") in _TEXT_PARTS:
                yield from self._speech(self._text_pairs.feed(_words(part.get("text"))))
            elif part.get("type") in _THINKING_PARTS:
                self._filter.trust_text()
                words = _words(part.get("thinking")) or _words(part.get("text"))
                yield from self._thought(self._reasoning_pairs.feed(words))
            else:
                self._pictures.feed(part)

    def _speech(self, text: str) -> Iterator[Delta]:
        if text:
            yield from self._kept(self._filter.feed(text))

    def _thought(self, text: str) -> Iterator[Delta]:
        if text:
            self._reasoning.append(text)
            yield ReasoningDelta(text)

    def _kept(self, pieces: Iterator[Delta]) -> Iterator[Delta]:
        for piece in pieces:
            if isinstance(piece, TextDelta):
                self._text.append(piece.text)
            elif isinstance(piece, ReasoningDelta):
                self._reasoning.append(piece.text)
            else:
                self._reasoning, self._text = self._reasoning + self._text, []
            yield piece


def _parsed(data: str) -> Any:
    try:
        return load_json(data)
    except ValueError as error:
        raise faults.broken_chunk(data) from error


def _items(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a list; one object alone counts as a list of it."""
    value = [value] if isinstance(value, Mapping) else value
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _words(value: Any) -> str:
    """Text, or the joined text of a list of parts."""
    if isinstance(value, str):
        return value
    texts = [part.get("text") for part in _items(value)]
    return "".join(text for text in texts if isinstance(text, str))
