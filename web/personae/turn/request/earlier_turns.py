"""The turns before the current one, in the form requests carry them.

Invariant: what ``stretch`` returns depends on the entries alone; what is kept only saves work.
Entries are values that never change, so those of the last request that are still there are not
looked into again: a request costs what is new, and copying the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from personae.conversation.entries import Entry
from personae.conversation.turns import is_said
from personae.llm.request.encoded import Stretch, encoded_saying
from personae.llm.request.token_estimate import estimate_tokens

STEP = 200
"""Entries taken in one go by ``keep_up``: a few milliseconds in a browser."""


class EarlierTurns:
    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._text = ""
        self._ends: list[tuple[int, int]] = []
        """After each entry: the length of the text, and the tokens so far."""

    def stretch(self, entries: list[Entry], end: int) -> Stretch | None:
        """What was said in a conversation before its entry ``end``; None when nothing was."""
        self._read_in(entries, end)
        return Stretch(self._text, self._ends[-1][1]) if self._text else None

    async def keep_up(
        self, entries: list[Entry], end: int, pause: Callable[[], Awaitable[None]]
    ) -> None:
        """Does the work of ``stretch`` beforehand, in steps with pauses between."""
        for step in range(self._in_common(entries, end) + STEP, end, STEP):
            self._read_in(entries, step)
            await pause()

    def _read_in(self, entries: list[Entry], end: int) -> None:
        self._forget(self._in_common(entries, end))
        self._add(entries[len(self._entries) : end])

    def _in_common(self, entries: list[Entry], end: int) -> int:
        """How many of the kept entries are still the first of ``entries``, up to ``end``."""
        mine = self._entries
        if mine == entries[: len(mine)]:  # compares identities first, without running Python
            return min(len(mine), end)
        pairs = enumerate(zip(mine, entries, strict=False))
        same = next((at for at, (before, now) in pairs if before is not now), len(entries))
        return min(same, end)

    def _forget(self, kept: int) -> None:
        """Goes back to the state after the first ``kept`` entries."""
        if kept < len(self._entries):
            del self._entries[kept:], self._ends[kept:]
            self._text = self._text[: self._ends[-1][0] if self._ends else 0]

    def _add(self, entries: list[Entry]) -> None:
        pieces = [self._text] if self._text else []
        size, tokens = self._ends[-1] if self._ends else (0, 0)
        for entry in entries:
            if is_said(entry) and (entry.role == "user" or entry.content.strip()):
                piece = encoded_saying(entry.role, entry.content)
                size += len(piece) + bool(pieces)
                tokens += estimate_tokens(entry.content)
                pieces.append(piece)
            self._ends.append((size, tokens))
        self._entries += entries
        self._text = ",".join(pieces)
