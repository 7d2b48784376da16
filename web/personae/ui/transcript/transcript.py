"""The windowed transcript: only rows near the viewport are in the DOM.

Invariants: what the reader looks at does not move, whatever is measured, drawn or grows elsewhere.
The viewport follows the end only while the reader is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import js

from personae.conversation.entries import Entry
from personae.package.steps import run, run_async
from personae.ui.dom.elements import by_id, show
from personae.ui.dom.frames import Frames
from personae.ui.dom.listeners import Listeners
from personae.ui.transcript.feed import Feed
from personae.ui.transcript.row_heights import visible_range
from personae.ui.transcript.rows import INTRO, Rows

_MARGIN = 900.0
"""Pixels beyond the viewport in which rows are kept ready."""
_AT_END, _FAR = 48.0, 200.0
"""Pixels to the end within which the reader is there, and beyond which a button leads there."""
_ABOVE = 80.0
"""Pixels that stay free above a row that is scrolled to."""


class Transcript:
    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._scroller, self._jump = by_id("transcript"), by_id("jump")
        self._feed = Feed(self._scroller, self._resized)
        self._coming: Rows | None = None
        """The rows that ``reset`` is making."""
        self._pinned, self._seen_top = True, 0.0
        self._listeners = Listeners()
        self._listeners.on(self._scroller, "scroll", self._scrolled, passive=True)

    def open(self, name: str, description: str, intro: str, entries: Sequence[Entry]) -> None:
        """Shows another conversation, from its end."""
        feed = self._feed
        was_empty = feed.first == feed.last
        feed.who = (name, description, intro)
        self._pinned = bool(entries)
        show(by_id("outgoing"), False)
        self._scroll_to(0)
        self._coming, rows = None, Rows()
        feed.replace(rows, run(rows.take(entries, feed.columns())))
        if was_empty:
            self._schedule()  # the first one: the frame has other things to draw already
        else:
            self._update()

    async def reset(self, entries: Sequence[Entry]) -> None:
        """Draws the conversation anew after its list was replaced; the reader's place stays.

        Others run meanwhile, however long it is; ``entries`` may change, and is then told of.
        """
        feed = self._feed
        rows = self._coming = Rows()
        guesses = await run_async(rows.take(entries, feed.columns()))
        if rows is not self._coming:
            return
        self._coming = None
        edge = self._edge()
        place = None if self._pinned else feed.first_below(edge, feed.first, feed.last)
        feed.renew(rows, guesses)
        if place is not None and rows.index(place[0]) >= 0:
            self._bring(place[0], place[1] - edge)
        else:
            self._update()

    def add(self, entry: Entry) -> None:
        rows, heights = self._feed.rows, self._feed.heights
        before = rows.last_message()
        row = rows.add(entry)
        if entry.role == "user":
            self.expect("")
        while len(heights) < len(rows):
            heights.append(rows.rows[-1].guess_height(80))
        self._redraw_soon(row)
        if before != rows.last_message():
            self._redraw_soon(before)
        self._schedule()

    def update(self, entry: Entry) -> None:
        if self._coming is not None:
            self._coming.update(entry)
        self._redraw_soon(self._feed.rows.update(entry))

    def set_streaming(self, on: bool) -> None:
        if on != self._feed.streaming:
            self._feed.set_streaming(on)
            self._redraw_soon(self._feed.rows.last_message())

    def set_unanswered(self, said: str) -> None:
        """``said``: under the last message, which has no answer; empty: it has one."""
        if said != self._feed.unanswered:
            self._feed.unanswered = said
            self._redraw_soon(self._feed.rows.last_message())

    def set_waiting(self, on: bool) -> None:
        """Shows that a reply is due before it has an entry."""
        pending = by_id("pending")
        changes = pending.hidden == on
        show(pending, on)
        by_id("pending-name").textContent = self._feed.who[0]
        if changes and self._pinned:
            self._schedule()

    def expect(self, text: str) -> None:
        """Shows what the user has just sent until it is an entry; empty takes it away."""
        show(by_id("outgoing"), bool(text))
        by_id("outgoing-text").textContent = text
        self.pin()

    def pin(self) -> None:
        """Follows the end from now on."""
        self._pinned = True
        self._schedule()

    def element_of(self, key: str) -> Any:
        """The drawn element of an entry, or None."""
        return self._feed.element_of(key)

    def reveal(self, key: str) -> None:
        """Scrolls an entry into view and marks it for a moment."""
        if self._feed.rows.index(key) < 0:
            return
        self._pinned = False
        self._bring(key, _ABOVE)
        element = self.element_of(key)
        if element is not None:
            element.classList.add("jumped")
            element.focus(preventScroll=True)

    def step(self, by: int) -> None:
        """Moves the focus to the row before or after the focused one; from outside, to the last."""
        rows = self._feed.rows
        focused = self._feed.key_of(js.document.activeElement)
        at = len(rows) - 1
        if focused is not None:
            at = max(0, min(rows.index(focused) + by, at))
        key = rows.rows[at].key
        if self.element_of(key) is None:
            self._pinned = False
            self._bring(key, _ABOVE)
        element = self.element_of(key)
        if element is not None:
            element.focus(preventScroll=True)
            element.scrollIntoView(block="nearest")

    # The window

    def _redraw_soon(self, row: int) -> None:
        if row >= 0:
            key = self._feed.rows.rows[row].key
            self._frames.schedule(("row", key), lambda: self._feed.redraw(key))

    def _schedule(self) -> None:
        self._frames.schedule("window", self._update)

    def _update(self) -> None:
        """Draws what belongs in the viewport, as far as there is time."""
        feed, height = self._feed, self._scroller.clientHeight
        if not len(feed.rows) or not height:
            return
        top, (first, last) = self._wanted(height)
        anchor = None if self._pinned else feed.first_below(self._edge(), first, last)
        if last <= feed.first or first >= feed.last:
            feed.begin_at(last if self._pinned else feed.heights.row_at(top))
        done = feed.show(first, last, from_end=self._pinned)
        self._keep_place(anchor)
        show(self._jump, self._is_far_from_end(height))
        if not done or self._wanted(height)[1] != (first, last):
            self._schedule()  # rows turned out to have other heights than was guessed

    def _wanted(self, height: float) -> tuple[float, tuple[int, int]]:
        """The viewport's top, and the rows that belong into it and around it."""
        heights = self._feed.heights
        top = heights.total() - height if self._pinned else self._scroller.scrollTop
        return top, visible_range(heights, max(0.0, top), height, _MARGIN)

    def _is_far_from_end(self, height: float) -> bool:
        if self._pinned:
            return False
        rest: float = self._scroller.scrollHeight - self._scroller.scrollTop - height
        return rest > _FAR

    def _edge(self) -> float:
        top: float = self._scroller.getBoundingClientRect().top
        return top

    def _keep_place(self, anchor: tuple[str, float] | None) -> None:
        """Follows the end, or puts the row that was first in view back where it was."""
        if self._pinned:
            self._scroll_to(self._scroller.scrollHeight)
        elif anchor is not None:
            moved = self.element_of(anchor[0]).getBoundingClientRect().top - anchor[1]
            if abs(moved) >= 1:
                self._scroll_to(self._scroller.scrollTop + moved)

    def _bring(self, key: str, below: float) -> None:
        """Scrolls until a row begins ``below`` pixels under the viewport's top."""
        offset = self._feed.heights.offset(self._feed.rows.index(key))
        self._scroller.scrollTop = max(0.0, offset - below)
        self._update()
        element = self.element_of(key)
        if element is not None:
            top = element.getBoundingClientRect().top
            self._scroll_to(self._scroller.scrollTop + top - self._edge() - below)
            self._schedule()

    # What the reader and the browser do

    def _scrolled(self, _event: Any) -> None:
        top, before = self._scroller.scrollTop, (self._pinned, self._seen_top)
        rest = self._scroller.scrollHeight - top - self._scroller.clientHeight
        if rest < _AT_END:
            self._pinned = True
        elif top < self._seen_top - 1:
            self._pinned = False
        self._seen_top = top
        if (self._pinned, top) != before:  # else it was the transcript's own doing
            self._schedule()

    def _resized(self, boxes: Any, _observer: Any) -> None:
        """Rows or the viewport have another size: keeps the sums right and the reader in place."""
        feed, edge, shift, changed = self._feed, self._scroller.scrollTop, 0.0, False
        for box in list(boxes):
            at = feed.rows.index(box.target.getAttribute("data-entry-id") or INTRO)
            if box.target == self._scroller or not feed.first <= at < feed.last:
                changed = True
                continue
            bottom = feed.heights.offset(at + 1)
            change = feed.heights.set(at, box.borderBoxSize[0].blockSize)
            changed = changed or abs(change) >= 1
            if bottom <= edge:
                shift += change
        if self._pinned:
            self._scroll_to(self._scroller.scrollHeight)
        elif shift:
            self._scroll_to(edge + shift)
        if changed:
            self._schedule()

    def _scroll_to(self, top: float) -> None:
        self._scroller.scrollTop = top
        self._seen_top = self._scroller.scrollTop
