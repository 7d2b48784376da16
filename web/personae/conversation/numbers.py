"""The numbers in stored and imported conversations: such as this player writes, and no others.

A number beyond these is damage, or somebody's attempt: no calendar and no other language's numbers
hold it, and whoever shows or counts with it would fail much later.
"""

from __future__ import annotations

LARGEST = 2**53
"""What every language that agents are written in can count to."""
LAST_MOMENT = 2**47
"""Milliseconds since the epoch: thousands of years, and still a date."""


def count_from(value: object) -> int:
    """Raises ValueError."""
    number = int(value) if isinstance(value, int | float | str) else None
    if number is None or abs(number) > LARGEST:
        raise ValueError("a number is none that can be counted to")
    return number


def moment_from(value: object) -> int:
    """Milliseconds since the epoch. Raises ValueError."""
    at = count_from(value)
    if not 0 <= at <= LAST_MOMENT:
        raise ValueError("a time is none")
    return at
