"""Separates ``<think>`` reasoning from speech in streamed text.

Rules: an opening tag counts only at the start of the reply (after white space). A closing tag
that was never opened turns everything before it into reasoning, since some chat templates put
the opening tag into the prompt; inside code (an odd number of backticks before it) it is
ordinary text. After either, and once the text itself opened a tag further in, all is speech.
Invariants: the result does not depend on where the text was split; the work is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from personae.llm.stream.reply import ReasoningDelta, TextDelta, TextWasReasoning

OPEN, CLOSE = "<think>", "</think>"

Piece = TextDelta | ReasoningDelta | TextWasReasoning
_State = Callable[[str, bool], tuple[Piece | None, str]]


class ThinkFilter:
    def __init__(self) -> None:
        self._state: _State = self._start
        self._held = ""
        self._backticks = 0
        self._trusted = False

    def trust_text(self) -> None:
        """Reasoning came in a field of its own: an unopened closing tag is ordinary text."""
        self._trusted = True

    def feed(self, text: str) -> Iterator[Piece]:
        yield from self._run(text, last=False)

    def finish(self) -> Iterator[Piece]:
        """What was held back because it looked like the beginning of a tag."""
        yield from self._run("", last=True)

    def _run(self, text: str, *, last: bool) -> Iterator[Piece]:
        text, self._held = self._held + text, ""
        while text:
            piece, text = self._state(text, last)
            if piece is not None:
                yield piece

    # Each state takes the text at hand and returns a piece (or none) and the text left over.
    # A state that needs more text puts it into _held and leaves nothing over.

    def _start(self, text: str, last: bool) -> tuple[Piece | None, str]:
        begun = text.lstrip()
        if OPEN.startswith(begun) and not last and begun != OPEN:
            self._held = text
            return None, ""
        if begun.startswith(OPEN):
            self._state = self._after_open
            return None, begun.removeprefix(OPEN)
        self._state = self._watch
        return None, text

    def _after_open(self, text: str, last: bool) -> tuple[Piece | None, str]:
        text = text.lstrip()
        if text:
            self._state = self._thought
        return None, text

    def _thought(self, text: str, last: bool) -> tuple[Piece | None, str]:
        thought, tag, rest = text.partition(CLOSE)
        if tag:
            self._state = self._after_close
        else:
            thought = self._hold(text, (CLOSE,), last)
        return (ReasoningDelta(thought) if thought else None), rest

    def _after_close(self, text: str, last: bool) -> tuple[Piece | None, str]:
        text = text.lstrip()
        if text:
            self._state = self._speech
        return None, text

    def _watch(self, text: str, last: bool) -> tuple[Piece | None, str]:
        found = [(text.find(tag), tag) for tag in (OPEN, CLOSE) if tag in text]
        if not found:
            return self._say(self._hold(text, (OPEN, CLOSE), last)), ""
        at, tag = min(found)
        if at:
            return self._say(text[:at]), text[at:]
        if tag == CLOSE and not self._trusted and self._backticks % 2 == 0:
            self._state = self._after_close
            return TextWasReasoning(), text.removeprefix(CLOSE)
        self._state = self._speech
        return None, text

    def _speech(self, text: str, last: bool) -> tuple[Piece | None, str]:
        return TextDelta(text), ""

    def _say(self, text: str) -> Piece | None:
        self._backticks += text.count("`")
        return TextDelta(text) if text else None

    def _hold(self, text: str, tags: tuple[str, ...], last: bool) -> str:
        """``text`` without the end that may be the beginning of a tag; that end is kept."""
        if last:
            return text
        size = max(_overlap(text, tag) for tag in tags)
        self._held = text[len(text) - size :]
        return text[: len(text) - size]


def _overlap(text: str, tag: str) -> int:
    """The length of the longest end of ``text`` that begins ``tag``, the whole tag excepted."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)
