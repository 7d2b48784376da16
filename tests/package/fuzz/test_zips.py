"""A short run of the fuzz target with every change."""

from __future__ import annotations

import pytest

from tests.package.fuzz.zips import attempt


@pytest.mark.parametrize("block", range(10))
def test_mutated_archives(block: int) -> None:
    for seed in range(300 * block, 300 * block + 300):
        attempt(seed)
