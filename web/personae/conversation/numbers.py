"""The numbers in stored and imported conversations that others read than this player.

A number beyond these is damage, or somebody's attempt: no calendar and no database holds it, and
whoever shows or stores it would fail much later.
"""

from __future__ import annotations

LARGEST = 2**53
"""What a database takes as a part of a key."""
LAST_MOMENT = 2**47
"""Milliseconds since the epoch: thousands of years, and still a date."""


def moment_from(value: object) -> int:
    """Milliseconds since the epoch. Raises ValueError, also for what int() does not take."""
    if not isinstance(value, int | float | str) or not 0 <= float(value) <= LAST_MOMENT:
        raise ValueError("a time is none")
    return int(value)
