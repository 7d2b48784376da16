"""The bound on nesting is exact for JSON; a text built against it costs a price per bracket."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.bounded_json import is_deep

TREES = st.recursive(
    st.one_of(st.integers(), st.text('[]{}"\\a', max_size=6)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("[{a", max_size=3), inner, max_size=4)
    ),
    max_leaves=40,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 0


@given(TREES, st.integers(0, 30), st.integers(0, 40))
def test_what_is_nested_deeper_is_deep(tree: Any, wraps: int, most: int) -> None:
    for number in range(wraps):
        tree = [tree, 1] if number % 2 else {"a": tree}
    assert is_deep(json.dumps(tree), most) == (depth(tree) > most)


@pytest.mark.parametrize("unit", ["[" * 150 + "]" * 150, "[]" * 150, "[" + "{}" * 299 + "]"])
def test_many_brackets_are_looked_at_once(unit: str) -> None:
    text = f"[{','.join([unit] * (600_000 // len(unit)))}]"
    start = time.perf_counter()
    assert not is_deep(text)
    assert time.perf_counter() - start < 2
