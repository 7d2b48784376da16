"""The transcript's rows, and those of them that are drawn.

Invariants: the drawn rows are one contiguous range [first, last) and the feed's only children, in
order; the feed's padding stands for the rest; every one is closed when its row is taken away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import js
from pyodide.ffi import create_proxy

from personae.ui.dom.elements import by_id, missing
from personae.ui.transcript.drawn_rows import DrawnIntro, DrawnLog, DrawnMessage
from personae.ui.transcript.row_heights import RowHeights
from personae.ui.transcript.rows import INTRO, Row, Rows

Drawn = DrawnIntro | DrawnLog | DrawnMessage
_BUDGET = 9.0
"""Milliseconds of drawing per frame."""
_TAIL = 32.0


class Feed:
    """``resized``: called as ResizeObserver does when the viewport or drawn rows change size."""

    def __init__(self, scroller: Any, resized: Callable[[Any, Any], None]) -> None:
        self.rows, self.heights = Rows(), RowHeights()
        self.first = self.last = 0
        self.who = ("", "", "")
        """The character's name, description and intro."""
        self.streaming = False
        self.unanswered = ""
        """What is said under the last message when it is the user's and has no answer."""
        self._scroller, self._element = scroller, by_id("feed")
        self._drawn: dict[str, Drawn] = {}
        self._resized = create_proxy(resized)
        self._observer = js.ResizeObserver.new(self._resized)
        self._observer.observe(scroller)

    def columns(self) -> int:
        """About how many characters fit on a line."""
        return max(20, int(self._element.clientWidth / 8.3))

    def element_of(self, key: str) -> Any:
        """The drawn element of a row, or None."""
        drawn = self._drawn.get(key)
        return None if drawn is None else drawn.element

    def key_of(self, element: Any) -> str | None:
        """The row that ``element`` is or is in; None outside of the feed."""
        row = element.closest("[data-entry-id], .intro")
        if missing(row) or not self._element.contains(row):
            return None
        key: str = row.getAttribute("data-entry-id") or INTRO
        return key

    def set_streaming(self, on: bool) -> None:
        self.streaming = on
        self._element.setAttribute("aria-busy", "true" if on else "false")

    def first_below(self, edge: float, first: int, last: int) -> tuple[str, float] | None:
        """The key of the first drawn row of [first, last) that ends below ``edge``, and its top."""
        for at in range(max(first, self.first), min(last, self.last)):
            key = self.rows.rows[at].key
            box = self._drawn[key].element.getBoundingClientRect()
            if box.bottom > edge:
                return key, box.top
        return None

    # Which rows are drawn

    def replace(self, rows: Rows, guesses: list[float]) -> None:
        """Other rows, of which nothing is drawn."""
        self.clear()
        self.rows = rows
        self.heights.reset(guesses)
        self._pad()

    def renew(self, rows: Rows, guesses: list[float]) -> None:
        """Other rows; goes on with what is drawn where it is one range of them as well."""
        keys = [row.key for row in self.rows.rows[self.first : self.last]]
        first = rows.index(keys[0]) if keys else -1
        last = first + len(keys)
        if first < 0 or [row.key for row in rows.rows[first:last]] != keys:
            self.replace(rows, guesses)
            return
        self.rows = rows
        self.heights.reset(guesses)
        self.first, self.last = first, last
        for key in keys:
            self.redraw(key)
        self._measure(range(first, last))
        self._pad()

    def show(self, first: int, last: int, *, from_end: bool) -> bool:
        """Draws rows [first, last) and no others; False when the time was up before that."""
        for at in (
            *range(self.first, min(first, self.last)),
            *range(max(last, self.first), self.last),
        ):
            self._take_away(at)
        self.first = min(max(first, self.first), self.last)
        self.last = max(min(last, self.last), self.first)
        started, fresh = js.performance.now(), []
        while self.first > first or self.last < last:
            if self.first > first and (from_end or self.last >= last):
                self.first -= 1
                fresh.append(self._add(self.first, before=True))
            else:
                fresh.append(self._add(self.last, before=False))
                self.last += 1
            if js.performance.now() - started > _BUDGET:
                break
        self._measure(fresh)
        self._pad()
        return self.first <= first and self.last >= last

    def begin_at(self, row: int) -> None:
        """Takes everything away; what is shown next grows from ``row``."""
        self.clear()
        self.first = self.last = row

    def clear(self) -> None:
        for drawn in self._drawn.values():
            self._observer.unobserve(drawn.element)
            drawn.close()
        self._drawn.clear()
        self._element.replaceChildren()
        self.first = self.last = 0

    # Drawing

    def redraw(self, key: str) -> None:
        """Draws a row again if it is drawn."""
        drawn, at = self._drawn.get(key), self.rows.index(key)
        if drawn is not None and at >= 0:
            self._draw(drawn, at)

    def _draw(self, drawn: Drawn, at: int) -> None:
        row = self.rows.rows[at]
        last = at == self.rows.last_message()
        drawn.update(row, streaming=self.streaming and last and _speaks(row), last=last)
        if isinstance(drawn, DrawnMessage):
            drawn.set_unanswered("" if _speaks(row) or not last else self.unanswered)
        drawn.element.setAttribute("aria-posinset", str(at + 1))
        drawn.element.setAttribute("aria-setsize", str(len(self.rows)))

    def _make(self, row: Row) -> Drawn:
        if row.kind == "intro":
            return DrawnIntro(*self.who)
        return (DrawnLog if row.kind == "log" else DrawnMessage)(row, self.who[0])

    def _add(self, at: int, *, before: bool) -> int:
        row = self.rows.rows[at]
        drawn = self._make(row)
        self._drawn[row.key] = drawn
        self._draw(drawn, at)
        self._element.prepend(drawn.element) if before else self._element.append(drawn.element)
        self._observer.observe(drawn.element)
        return at

    def _take_away(self, at: int) -> None:
        drawn = self._drawn.pop(self.rows.rows[at].key)
        self._observer.unobserve(drawn.element)
        if drawn.element.contains(js.document.activeElement):
            self._scroller.focus(preventScroll=True)
        drawn.element.remove()
        drawn.close()

    def _measure(self, drawn: Sequence[int]) -> None:
        for at in drawn:
            self.heights.set(at, self._drawn[self.rows.rows[at].key].element.offsetHeight)

    def _pad(self) -> None:
        above = self.heights.offset(self.first)
        below = self.heights.total() - self.heights.offset(self.last) + _TAIL
        self._element.style.setProperty("padding-block", f"{above:.1f}px {below:.1f}px")


def _speaks(row: Row) -> bool:
    return row.entry is not None and row.entry.role == "assistant"
