"""An assistant entry while it streams.

Invariants: what was streamed is stored within a second, marked ``stopped``, so that a killed tab
keeps it; the finished entry replaces it; the app hears of new text at most every ``SHOW_AFTER``
milliseconds, consumers of every token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from personae.conversation.entries import Entry
from personae.ports import Clock
from personae.storage.journal import Journal
from personae.turn.events import Events

SHOW_AFTER = 30
SAVE_AFTER = 700
"""Milliseconds after the first unsaved piece; leaves time for the write within a second."""


class Later:
    """Does something a while after the first of many pokes."""

    def __init__(self, clock: Clock, delay: float, action: Callable[[], Awaitable[None]]) -> None:
        self._clock = clock
        self._delay = delay
        self._action = action
        self._task: asyncio.Task[None] | None = None

    def poke(self) -> None:
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        await self._clock.sleep(self._delay)
        self._task = None
        await self._action()


class Growing:
    """A text that grows by pieces; reading it joins those that are new."""

    def __init__(self) -> None:
        self._whole = ""
        self._new: list[str] = []

    def add(self, piece: str) -> None:
        self._new.append(piece)

    @property
    def text(self) -> str:
        self._whole += "".join(self._new)
        self._new.clear()
        return self._whole


class PartialReply:
    """The entry appears with its first piece; ``finish`` or ``interrupt`` ends it."""

    def __init__(
        self, journal: Journal, clock: Clock, events: Events, facts: Mapping[str, Any]
    ) -> None:
        self._journal = journal
        self._events = events
        self._facts = facts
        """Fields of the entry: whose it is, what it answers, the model."""
        self._entry: Entry | None = None
        self._said, self._thought = Growing(), Growing()
        self._show = Later(clock, SHOW_AFTER, self._show_now)
        self._save = Later(clock, SAVE_AFTER, self._save_now)

    def text(self, piece: str) -> None:
        self._said.add(piece)
        self._grew()
        self._events.emit("token", piece)

    def reasoning(self, piece: str) -> None:
        self._thought.add(piece)
        self._grew()

    def text_was_reasoning(self) -> None:
        """Moves all text so far to the reasoning."""
        self._thought.add(self._said.text)
        self._said = Growing()
        self._grew()

    async def finish(self, content: str, **fields: Any) -> Entry:
        """The complete entry, stored."""
        self._cancel()
        if self._entry is None:
            entry = self._journal.append("assistant", content, **self._facts, **fields)
        else:
            entry = self._entry.with_(content=content, **fields)
            self._journal.update(entry)
        await self._journal.save()
        return entry

    async def abandon(self) -> None:
        """Takes back what was streamed: the reply turned out to say nothing."""
        self._cancel()
        if self._entry is not None:
            self._journal.drop(self._entry)
            await self._journal.save()

    async def interrupt(self) -> Entry | None:
        """What was streamed, stored as stopped; None when nothing was."""
        self._cancel()
        if self._entry is None:
            return None
        entry = self._current().with_(stopped=True)
        self._journal.update(entry)
        await self._journal.save()
        return entry

    def _grew(self) -> None:
        if self._entry is None:
            self._entry = self._journal.append(
                "assistant", self._said.text, stored_as={"stopped": True}, **self._facts
            )
        self._show.poke()
        self._save.poke()

    def _current(self) -> Entry:
        assert self._entry is not None
        return self._entry.with_(content=self._said.text, reasoning=self._thought.text or None)

    async def _show_now(self) -> None:
        self._journal.update_unsaved(self._current())

    async def _save_now(self) -> None:
        self._journal.update(self._current(), grows=True)
        await self._journal.save()

    def _cancel(self) -> None:
        self._show.cancel()
        self._save.cancel()
