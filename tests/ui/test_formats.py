"""How numbers, sizes, times and names are written."""

from __future__ import annotations

from datetime import datetime

import pytest
from personae.ui import formats


def at(*when: int) -> int:
    return int(datetime(*when).timestamp() * 1000)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 KB"),
        (12_345, "12 KB"),
        (5_200_000, "5.2 MB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert formats.size(count) == text


def test_progress_with_and_without_a_total() -> None:
    assert formats.progress(1_500_000, 3_000_000) == "1.5 MB of 3.0 MB"
    assert formats.progress(1_500_000, None) == "1.5 MB"


NOW = at(2026, 3, 18, 12, 0)


@pytest.mark.parametrize(
    ("when", "group"),
    [
        ((2026, 3, 18, 9, 5), "Today"),
        ((2026, 3, 19, 0, 5), "Today"),  # a clock that was set back
        ((2026, 3, 17, 23, 59), "Yesterday"),
        ((2026, 3, 13, 8, 0), "This week"),
        ((2026, 3, 2, 8, 0), "This month"),
        ((2025, 3, 18, 8, 0), "Mar 2025"),
    ],
)
def test_conversations_are_grouped_by_day(when: tuple[int, ...], group: str) -> None:
    assert formats.day_group(at(*when), NOW) == group


def test_short_times() -> None:
    assert formats.short_time(at(2026, 3, 18, 9, 5), NOW) == "09:05"
    assert formats.short_time(at(2026, 1, 2, 9, 5), NOW) == "2 Jan"
    assert formats.short_time(at(2024, 1, 2, 9, 5), NOW) == "2 Jan 2024"
    assert formats.moment(at(2026, 1, 2, 9, 5)) == "2 Jan 2026, 09:05"


@pytest.mark.parametrize(
    ("name", "letters"),
    [("Wren Tallow", "WT"), ("eve", "E"), ("Ana María del Mar", "AM"), ("—", "?"), ("", "?")],
)
def test_initials(name: str, letters: str) -> None:
    assert formats.initials(name) == letters


def test_one_line_cuts_at_a_word() -> None:
    assert formats.one_line("one\n two   three", 40) == "one two three"
    assert formats.one_line("alpha beta gamma delta", 16) == "alpha beta…"
    assert len(formats.one_line("x" * 500, 80)) == 80
    assert formats.one_line("\u202eone\u2066\u2028two") == "one two"


def test_a_colour_stays_with_its_name() -> None:
    assert formats.hue("Wren") == formats.hue("Wren")
    assert formats.hue("Wren") != formats.hue("Eve")
