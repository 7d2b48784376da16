"""Separates reasoning that is marked in the streamed text from speech.

Models mark it in many ways: ``<think>``, ``<thinking>``, ``<thought>``, ``[THINK]``, channels and
more (``_BLOCKS``), in any case. Rules: an opening mark counts only at the start of the reply, after
white space and other blocks of reasoning. A closing mark that was never opened turns everything
before it into reasoning, since some chat templates put the opening one into the prompt; inside code
(an odd number of backticks before it) it is ordinary text. After either, and once the text itself
opened a tag further in, all is speech. Marks of channels are no speech wherever they stand, once a
reply began with one.
Invariants: the result does not depend on where the text was split; the work is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from personae.llm.stream.reply import ReasoningDelta, TextDelta, TextWasReasoning

_NAMES = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "seed:think", "mm:think"),
    *("ant:thinking", "antthinking", "longcat_think"),
)
_BLOCKS = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "[think]": "[/think]",
    "<|think|>": "<|/think|>",
    "◁think▷": "◁/think▷",
    "<|start_thinking|>": "<|end_thinking|>",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel>thought": "<channel|>",
    "<|channel>analysis": "<channel|>",
}
"""Opening mark -> closing mark, in lower case."""
_SILENT = (
    *("<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary<|message|>"),
    *("<|channel>final", "<|start_response|>", "<|begin_of_solution|>", "<|message|>"),
)
"""Marks at the start of a reply that only say that speech follows."""
_ENDS = (
    *("<|end|>", "<|return|>", "<|call|>", "<channel|>"),
    *("<|end_response|>", "<|end_of_solution|>"),
)
"""Marks that end speech where marks are in use; more may follow."""
_MARKED = tuple(mark for mark in (*_BLOCKS, *_SILENT) if mark.startswith("<|"))
_UNOPENED = (
    *(f"</{name}>" for name in _NAMES),
    *("[/think]", "◁/think▷", "<|end_thinking|>", "<|end_of_thought|>"),
)
"""Marks that tell of reasoning even where nothing opened it."""
_WATCHED = re.compile(
    "|".join(re.escape(mark) for mark in (*_BLOCKS, *_UNOPENED)), re.IGNORECASE | re.ASCII
)
_ANY_END = re.compile("|".join(map(re.escape, _ENDS)), re.IGNORECASE | re.ASCII)
_OPENINGS = (*_BLOCKS, *_SILENT)
_LONGEST = max(map(len, _OPENINGS))

Piece = TextDelta | ReasoningDelta | TextWasReasoning
_State = Callable[[str, bool], tuple[Piece | None, str]]


class ThinkFilter:
    def __init__(self) -> None:
        self._state: _State = self._start
        self._held = ""
        self._close = re.compile("")
        self._close_mark = ""
        self._backticks = 0
        self._trusted = False
        self._marked = False
        """The reply began with a mark of channels."""
        self._thought_before = False

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
        head = _lower(begun[:_LONGEST])
        mark = next((mark for mark in _OPENINGS if head.startswith(mark)), "")
        if not mark:
            if not last and any(opening.startswith(head) for opening in _OPENINGS):
                self._held = text
                return None, ""
            self._state = self._speech if self._thought_before or self._marked else self._watch
            return None, begun if self._thought_before else text
        self._marked = self._marked or mark in _MARKED
        if mark in _BLOCKS:
            self._close_mark = _BLOCKS[mark]
            self._close = re.compile(re.escape(self._close_mark), re.IGNORECASE | re.ASCII)
            self._state = self._after_open
        return None, begun[len(mark) :]

    def _after_open(self, text: str, last: bool) -> tuple[Piece | None, str]:
        text = text.lstrip()
        if text:
            self._state = self._thought
        return None, text

    def _thought(self, text: str, last: bool) -> tuple[Piece | None, str]:
        found = self._close.search(text)
        if found is None:
            thought, rest = self._hold(text, (self._close_mark,), last), ""
        else:
            thought, rest = text[: found.start()], text[found.end() :]
            self._thought_before = True
            self._state = self._start
        return (ReasoningDelta(thought) if thought else None), rest

    def _watch(self, text: str, last: bool) -> tuple[Piece | None, str]:
        found = _WATCHED.search(text)
        if found is None:
            return self._say(self._hold(text, (*_BLOCKS, *_UNOPENED), last)), ""
        if found.start():
            return self._say(text[: found.start()]), text[found.start() :]
        closes = _lower(found[0]) in _UNOPENED
        if closes and not self._trusted and self._backticks % 2 == 0:
            self._thought_before = True
            self._state = self._start
            return TextWasReasoning(), text[found.end() :]
        self._state = self._speech
        return None, text

    def _speech(self, text: str, last: bool) -> tuple[Piece | None, str]:
        if not self._marked:
            return TextDelta(text), ""
        found = _ANY_END.search(text)
        if found is None:
            said = self._hold(text, _ENDS, last)
            return (TextDelta(said) if said else None), ""
        self._state = self._between
        said = text[: found.start()]
        return (TextDelta(said) if said else None), text[found.end() :]

    def _between(self, text: str, last: bool) -> tuple[Piece | None, str]:
        """After a mark that ended speech: what is no further mark is speech again."""
        self._state = self._start
        return None, text

    def _say(self, text: str) -> Piece | None:
        self._backticks += text.count("`")
        return TextDelta(text) if text else None

    def _hold(self, text: str, tags: tuple[str, ...], last: bool) -> str:
        """``text`` without the end that may be the beginning of a tag; that end is kept."""
        if last:
            return text
        end = _lower(text[-_LONGEST:])
        size = max(_overlap(end, tag) for tag in tags)
        self._held = text[len(text) - size :]
        return text[: len(text) - size]


def _lower(text: str) -> str:
    """In lower case, character by character: no other case changes the length of a text."""
    return "".join(one.lower() if one.isascii() else one for one in text)


def _overlap(text: str, tag: str) -> int:
    """The length of the longest end of ``text`` that begins ``tag``, the whole tag excepted."""
    longest = min(len(text), len(tag) - 1)
    return next((size for size in range(longest, 0, -1) if text.endswith(tag[:size])), 0)
