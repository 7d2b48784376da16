"""Which rows of a long list are near the viewport. Pure arithmetic, no DOM.

Invariants: every row has a height, measured or estimated; ``offset(n)`` is the sum of the heights
before row n. Sums are kept per block of rows, so that a change costs one block, not the list.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

_BLOCK = 256


class RowHeights:
    """Heights of rows in pixels, with fast sums."""

    def __init__(self) -> None:
        self._heights: list[float] = []
        self._starts: list[float] = [0.0]
        self._clean = 0
        """Blocks below this number have right sums in ``_starts``."""

    def __len__(self) -> int:
        return len(self._heights)

    def reset(self, heights: list[float]) -> None:
        """Replaces all rows."""
        self._heights = list(heights)
        self._clean = 0

    def append(self, height: float) -> None:
        self._heights.append(height)
        self._soil(len(self._heights) - 1)

    def set(self, row: int, height: float) -> float:
        """Stores a measured height; returns by how much the row grew."""
        change = height - self._heights[row]
        if change:
            self._heights[row] = height
            self._soil(row)
        return change

    def offset(self, row: int) -> float:
        """Pixels above ``row``; ``offset(len)`` is the height of the list."""
        self._sum_up()
        block = row // _BLOCK
        return self._starts[block] + sum(self._heights[block * _BLOCK : row])

    def total(self) -> float:
        return self.offset(len(self._heights))

    def row_at(self, position: float) -> int:
        """The row that covers ``position``; the first or last one beyond the ends."""
        self._sum_up()
        block = max(0, bisect_right(self._starts, position) - 1)
        rows = self._heights[block * _BLOCK : (block + 1) * _BLOCK]
        within = bisect_right(list(accumulate(rows)), position - self._starts[block])
        return max(0, min(block * _BLOCK + within, len(self._heights) - 1))

    def _soil(self, row: int) -> None:
        self._clean = min(self._clean, row // _BLOCK)

    def _sum_up(self) -> None:
        blocks = len(self._heights) // _BLOCK + 1
        if self._clean >= blocks and len(self._starts) == blocks:
            return
        del self._starts[self._clean + 1 :]
        for block in range(self._clean, blocks - 1):
            rows = self._heights[block * _BLOCK : (block + 1) * _BLOCK]
            self._starts.append(self._starts[block] + sum(rows))
        self._clean = blocks


def visible_range(heights: RowHeights, top: float, height: float, margin: float) -> tuple[int, int]:
    """Rows [first, last) that lie within ``margin`` pixels of the viewport."""
    if not len(heights):
        return 0, 0
    first = heights.row_at(top - margin)
    last = heights.row_at(top + height + margin)
    return first, last + 1
