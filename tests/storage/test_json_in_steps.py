"""Large JSON texts are read in steps, to the same values."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.bounded_json import load_json
from personae.package.steps import run
from personae.storage.transfer.json_in_steps import read_json

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 0, 1, 3]), st.booleans())
def test_the_value_is_the_same(value: Any, indent: int | None, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    assert run(read_json(f" \n{text}\t")) == value


@given(st.text('{}[]",:\\ 1ae-', max_size=30))
def test_what_is_no_json_is_refused_as_elsewhere(text: str) -> None:
    try:
        expected = load_json(text)
    except ValueError:
        with pytest.raises(ValueError):
            run(read_json(text))
    else:
        assert run(read_json(text)) == expected


def test_nesting_is_bounded() -> None:
    for text in ("[" * 100_000, '{"a":' * 5_000 + "1" + "}" * 5_000):
        with pytest.raises(ValueError, match=r"nested|early"):
            run(read_json(text))


def test_no_step_takes_long() -> None:
    entry = {"id": "e", "role": "user", "content": "Hello “there”. " * 50, "at": 1}
    text = json.dumps({"entries": [entry] * 20_000, "stores": {"a": {"n": [1] * 20_000}}})
    longest, start = 0.0, time.process_time()
    for _ in read_json(text):
        now = time.process_time()
        longest, start = max(longest, now - start), now
    assert longest < 0.25
