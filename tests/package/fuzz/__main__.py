"""Feeds the zip reader mutated archives until the time is up: ``python -m tests.package.fuzz 60``.

A crash is an exception other than PackageError, a result that differs from zipfile's, or an input
that takes longer than ``SLOWEST`` seconds. It is printed with the seed that makes it again.
"""

from __future__ import annotations

import sys
import time

from tests.package.fuzz.zips import attempt


def main(seconds: float, seed: int) -> None:
    until, tried = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        attempt(seed + tried)
        tried += 1
    print(f"{tried} archives, seeds {seed} to {seed + tried - 1}, no crash")


if __name__ == "__main__":
    given = [float(argument) for argument in sys.argv[1:]]
    main(given[0] if given else 60, int(given[1]) if len(given) > 1 else time.time_ns() % 2**32)
