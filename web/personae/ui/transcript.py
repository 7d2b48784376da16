"""The windowed transcript: only rows near the view are in the DOM.

Invariants: the mounted rows are one contiguous range [first, last); the feed's padding stands for
the rest; what the reader looks at does not move, whatever is measured, mounted or grows elsewhere.
The view follows the end only while the reader is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import js
from pyodide.ffi import create_proxy

from personae.conversation.entries import Entry
from personae.package.steps import run, run_async
from personae.ui.dom import Frames, Listeners, by_id, missing, show
from personae.ui.message import IntroView, LogView, MessageView
from personae.ui.rows import INTRO, Row, Rows
from personae.ui.window import RowHeights, visible_range

View = IntroView | LogView | MessageView
_MARGIN = 900.0
"""Pixels beyond the view in which rows are kept ready."""
_BUDGET = 9.0
"""Milliseconds of mounting per frame."""
_AT_END = 48.0
_TAIL = 32.0


class Transcript:
    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._scroller, self._feed, self._jump = by_id("transcript"), by_id("feed"), by_id("jump")
        self._rows, self._heights = Rows(), RowHeights()
        self._coming: Rows | None = None
        """The rows that ``reset`` is making."""
        self._views: dict[str, View] = {}
        self._first = self._last = 0
        self._pinned, self._seen_top = True, 0.0
        self._streaming = False
        self._who = ("", "", "")
        self._listeners = Listeners()
        self._listeners.on(self._scroller, "scroll", self._scrolled, passive=True)
        self._measured_proxy = create_proxy(self._measured)
        self._observer = js.ResizeObserver.new(self._measured_proxy)
        self._observer.observe(self._scroller)

    def open(self, name: str, description: str, intro: str, entries: Sequence[Entry]) -> None:
        """Shows another conversation, from its end."""
        self._who = (name, description, intro)
        self._pinned = bool(entries)
        show(by_id("outgoing"), False)
        self._scroller.scrollTop = 0
        self._coming, rows = None, Rows()
        guesses = run(rows.take(entries, self._columns()))
        was_empty = not self._views
        self._unmount_all()
        self._rows = rows
        self._heights.reset(guesses)
        if was_empty:
            self._schedule()  # the first one: the frame has other things to draw already
        else:
            self.refresh()

    async def reset(self, entries: Sequence[Entry]) -> None:
        """Draws the conversation anew after its list was replaced; the reader's place stays.

        Others run meanwhile, however long it is; ``entries`` may change, and is then told of.
        """
        rows = self._coming = Rows()
        guesses = await run_async(rows.take(entries, self._columns()))
        if rows is not self._coming:
            return
        self._coming = None
        place = None if self._pinned else self._place()
        mounted = [row.key for row in self._rows.rows[self._first : self._last]]
        self._rows = rows
        self._heights.reset(guesses)
        if not self._keep_mounted(mounted):
            self._unmount_all()
        self.refresh()
        if place is not None and self._rows.index(place[0]) >= 0:
            self._return_to(*place)

    def _columns(self) -> int:
        return max(20, int(self._feed.clientWidth / 8.3))

    def _keep_mounted(self, keys: Sequence[str]) -> bool:
        """Goes on with what is drawn where it is one range of the new rows as well."""
        first = self._rows.index(keys[0]) if keys else -1
        last = first + len(keys)
        if first < 0 or [row.key for row in self._rows.rows[first:last]] != keys:
            return False
        self._first, self._last = first, last
        for at, key in enumerate(keys, first):
            self._draw(self._views[key], at)
        for at, key in enumerate(keys, first):
            self._heights.set(at, self._views[key].element.offsetHeight)
        return True

    def add(self, entry: Entry) -> None:
        before = self._rows.last_message()
        row = self._rows.add(entry)
        if entry.role == "user":
            self.expect("")
        while len(self._heights) < len(self._rows):
            self._heights.append(self._rows.rows[-1].guess_height(80))
        self._redraw_soon(row)
        if before != self._rows.last_message():
            self._redraw_soon(before)
        self._schedule()

    def update(self, entry: Entry) -> None:
        if self._coming is not None:
            self._coming.update(entry)
        self._redraw_soon(self._rows.update(entry))

    def set_streaming(self, on: bool) -> None:
        if on != self._streaming:
            self._streaming = on
            self._feed.setAttribute("aria-busy", "true" if on else "false")
            self._redraw_soon(self._rows.last_message())

    def set_waiting(self, on: bool) -> None:
        """Shows that a reply is due before it has an entry."""
        show(by_id("pending"), on)
        by_id("pending-name").textContent = self._who[0]
        if self._pinned:
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
        """The mounted element of an entry, or None."""
        view = self._views.get(key)
        return None if view is None else view.element

    def refresh(self) -> None:
        """Mounts what belongs in the view, now."""
        self._update()

    def reveal(self, key: str) -> None:
        """Scrolls an entry into view and marks it for a moment."""
        row = self._rows.index(key)
        if row < 0:
            return
        self._pinned = False
        self._scroller.scrollTop = max(0.0, self._heights.offset(row) - 80)
        self._update()
        element = self.element_of(key)
        if element is not None:
            self._scroller.scrollTop += (
                element.getBoundingClientRect().top
                - self._scroller.getBoundingClientRect().top
                - 80
            )
            element.classList.add("jumped")
            element.focus(preventScroll=True)

    def step(self, by: int) -> None:
        """Moves the focus to the row before or after the focused one; from outside, to the last."""
        focused = js.document.activeElement.closest("[data-entry-id], .intro")
        rows = len(self._rows)
        if missing(focused) or not self._feed.contains(focused):
            at = rows - 1
        else:
            key = focused.getAttribute("data-entry-id") or INTRO
            at = max(0, min(self._rows.index(key) + by, rows - 1))
        self._focus_row(at)

    def _focus_row(self, at: int) -> None:
        key = self._rows.rows[at].key
        if key not in self._views:
            self._pinned = False
            self._scroller.scrollTop = max(0.0, self._heights.offset(at) - 80)
            self._update()
        view = self._views.get(key)
        if view is not None:
            view.element.focus(preventScroll=True)
            view.element.scrollIntoView(block="nearest")

    # Drawing

    def _redraw_soon(self, row: int) -> None:
        if row >= 0:
            key = self._rows.rows[row].key
            self._frames.schedule(("row", key), lambda: self._redraw(key))

    def _redraw(self, key: str) -> None:
        view, at = self._views.get(key), self._rows.index(key)
        if view is not None and at >= 0:
            self._draw(view, at)

    def _draw(self, view: View, at: int) -> None:
        row = self._rows.rows[at]
        last = at == self._rows.last_message()
        view.update(row, streaming=self._streaming and last and _speaks(row), last=last)
        view.element.setAttribute("aria-posinset", str(at + 1))
        view.element.setAttribute("aria-setsize", str(len(self._rows)))

    def _make(self, row: Row) -> View:
        if row.kind == "intro":
            return IntroView(*self._who)
        return LogView(row) if row.kind == "log" else MessageView(row, self._who[0])

    # The window

    def _schedule(self) -> None:
        self._frames.schedule("window", self._update)

    def _update(self) -> None:
        height = self._scroller.clientHeight
        if not len(self._rows) or not height:
            return
        top = self._heights.total() - height if self._pinned else self._scroller.scrollTop
        first, last = visible_range(self._heights, max(0.0, top), height, _MARGIN)
        anchor = None if self._pinned else self._anchor(first, last)
        if last <= self._first or first >= self._last:
            self._unmount_all()
            self._first = self._last = last if self._pinned else self._heights.row_at(top)
        self._trim(first, last)
        done = self._extend(first, last)
        self._pad()
        self._settle(anchor)
        if not done:
            self._schedule()

    def _anchor(self, first: int, last: int) -> tuple[Any, float] | None:
        """The first visible row that stays mounted, and where it is."""
        edge = self._scroller.getBoundingClientRect().top
        for at in range(max(first, self._first), min(last, self._last)):
            element = self._views[self._rows.rows[at].key].element
            box = element.getBoundingClientRect()
            if box.bottom > edge:
                return element, box.top
        return None

    def _place(self) -> tuple[str, float] | None:
        """The key of the first visible row, and how far below the view's top it begins."""
        edge = self._scroller.getBoundingClientRect().top
        for at in range(self._first, self._last):
            key = self._rows.rows[at].key
            box = self._views[key].element.getBoundingClientRect()
            if box.bottom > edge:
                return key, box.top - edge
        return None

    def _return_to(self, key: str, below: float) -> None:
        self._scroller.scrollTop = max(0.0, self._heights.offset(self._rows.index(key)) - below)
        self._update()
        element = self.element_of(key)
        if element is not None:
            edge = self._scroller.getBoundingClientRect().top
            self._scroller.scrollTop += element.getBoundingClientRect().top - edge - below
            self._seen_top = self._scroller.scrollTop

    def _settle(self, anchor: tuple[Any, float] | None) -> None:
        if self._pinned:
            self._scroller.scrollTop = self._scroller.scrollHeight
        elif anchor is not None:
            moved = anchor[0].getBoundingClientRect().top - anchor[1]
            if abs(moved) >= 1:
                self._scroller.scrollTop += moved
        self._seen_top = self._scroller.scrollTop

    def _trim(self, first: int, last: int) -> None:
        while self._first < min(first, self._last):
            self._unmount(self._first)
            self._first += 1
        while self._last > max(last, self._first):
            self._last -= 1
            self._unmount(self._last)

    def _extend(self, first: int, last: int) -> bool:
        """Mounts rows at both ends until the range is reached or the time is up."""
        started, fresh = js.performance.now(), []
        while self._first > first or self._last < last:
            upwards = self._first > first and (self._pinned or self._last >= last)
            at = self._first - 1 if upwards else self._last
            fresh.append(self._mount(at, before=upwards))
            self._first, self._last = (at, self._last) if upwards else (self._first, at + 1)
            if js.performance.now() - started > _BUDGET:
                break
        for at in fresh:
            self._heights.set(at, self._views[self._rows.rows[at].key].element.offsetHeight)
        return self._first <= first and self._last >= last

    def _mount(self, at: int, *, before: bool) -> int:
        row = self._rows.rows[at]
        view = self._make(row)
        self._views[row.key] = view
        self._draw(view, at)
        self._feed.prepend(view.element) if before else self._feed.append(view.element)
        self._observer.observe(view.element)
        return at

    def _unmount(self, at: int) -> None:
        view = self._views.pop(self._rows.rows[at].key)
        self._observer.unobserve(view.element)
        if view.element.contains(js.document.activeElement):
            self._scroller.focus(preventScroll=True)
        view.element.remove()
        view.close()

    def _unmount_all(self) -> None:
        for view in self._views.values():
            self._observer.unobserve(view.element)
            view.close()
        self._views.clear()
        self._feed.replaceChildren()
        self._first = self._last = 0

    def _pad(self) -> None:
        above = self._heights.offset(self._first)
        below = self._heights.total() - self._heights.offset(self._last) + _TAIL
        self._feed.style.setProperty("padding-block", f"{above:.1f}px {below:.1f}px")

    # What the reader and the browser do

    def _scrolled(self, _event: Any) -> None:
        top = self._scroller.scrollTop
        rest = self._scroller.scrollHeight - top - self._scroller.clientHeight
        if rest < _AT_END:
            self._pinned = True
        elif top < self._seen_top - 1:
            self._pinned = False
        self._seen_top = top
        show(self._jump, not self._pinned and rest > 200)
        self._schedule()

    def _measured(self, boxes: Any, _observer: Any) -> None:
        """Rows or the view have another size: keeps the sums right and the reader in place."""
        edge, shift = self._scroller.scrollTop, 0.0
        for box in list(boxes):
            at = self._rows.index(box.target.getAttribute("data-entry-id") or INTRO)
            if box.target == self._scroller or not self._first <= at < self._last:
                continue
            bottom = self._heights.offset(at + 1)
            change = self._heights.set(at, box.borderBoxSize[0].blockSize)
            if bottom <= edge:
                shift += change
        if self._pinned:
            self._scroller.scrollTop = self._scroller.scrollHeight
        elif shift:
            self._scroller.scrollTop = edge + shift
        self._schedule()

    def close(self) -> None:
        self._unmount_all()
        self._observer.disconnect()
        self._measured_proxy.destroy()
        self._listeners.close()


def _speaks(row: Row) -> bool:
    return row.entry is not None and row.entry.role == "assistant"
