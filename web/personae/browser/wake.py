"""What an interpreter put back from a snapshot does first: all copies of it were one."""

from __future__ import annotations

import random


def wake() -> None:
    """New randomness; the rest of the memory is the same on purpose."""
    random.seed()
