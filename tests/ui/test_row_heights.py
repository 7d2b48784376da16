"""The arithmetic of the windowed transcript, against sums done the long way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from personae.ui.transcript.row_heights import RowHeights, visible_range

heights = st.lists(st.floats(1, 500), min_size=1, max_size=900)


def made(values: list[float]) -> RowHeights:
    rows = RowHeights()
    rows.reset(values)
    return rows


@given(heights, st.data())
def test_offsets_are_the_sums_of_what_is_above(values: list[float], data: st.DataObject) -> None:
    rows = made(values)
    row = data.draw(st.integers(0, len(values)))
    assert abs(rows.offset(row) - sum(values[:row])) < 1e-6


@given(heights, st.data())
def test_a_measured_row_moves_everything_below_it(values: list[float], data: st.DataObject) -> None:
    rows = made(values)
    rows.total()
    row = data.draw(st.integers(0, len(values) - 1))
    change = rows.set(row, 77.0)
    values[row] = 77.0
    assert abs(rows.total() - sum(values)) < 1e-6
    assert abs(rows.offset(row) - sum(values[:row])) < 1e-6
    assert rows.set(row, 77.0) == 0
    assert change == change


@given(heights, st.floats(-100, 200_000))
def test_the_row_at_a_position_covers_it(values: list[float], position: float) -> None:
    rows = made(values)
    row = rows.row_at(position)
    if 0 <= position < rows.total():
        assert rows.offset(row) <= position + 1e-6
        assert position < rows.offset(row + 1) + 1e-6
    else:
        assert row == (0 if position < 0 else len(values) - 1)


def test_rows_that_are_appended_after_sums_count() -> None:
    rows = made([10.0] * 255)
    assert rows.total() == 2550
    for _ in range(3):
        rows.append(10.0)
    assert rows.total() == 2580
    assert rows.row_at(2575) == 257


def test_only_what_is_near_the_view_is_in_range() -> None:
    rows = made([50.0] * 10_000)
    first, last = visible_range(rows, top=250_000, height=800, margin=400)
    assert rows.offset(first) <= 249_600
    assert rows.offset(last) >= 251_200
    assert last - first < 40


def test_an_empty_list_has_no_rows() -> None:
    assert visible_range(RowHeights(), 0, 800, 400) == (0, 0)
