from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.json_text import JsonFault, locate, locate_children, parse, place

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('ab\u00e9"\\{[,', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kx", max_size=2), inner),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('{"a": 1,}', 1, 8, "comma after the last item"),
        ('{\n "a": [1, 2, ]\n}', 2, 12, "comma after the last item"),
        ('{\n  // note\n "a": 1}', 2, 3, "no comments"),
        ('{"a": 1 /* note */}', 1, 9, "no comments"),
        ("{'a': 1}", 1, 2, "not valid JSON"),
        ('{"a": 1} x', 1, 10, "after the end"),
        ("", 1, 1, "not valid JSON"),
        ('{"a": "\\ud800"}', 1, 1, "surrogate"),
    ],
)
def test_faults_have_places(text: str, line: int, column: int, message: str):
    with pytest.raises(JsonFault, match=message) as caught:
        parse(text)
    assert place(text, caught.value.offset) == (line, column)


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "1e999", "-1e999", "1" * 5000, "[" * 200_000]
)
def test_what_no_agent_could_be_given_is_refused(text: str):
    with pytest.raises(JsonFault):
        parse(text)


@pytest.mark.parametrize(
    "text", ["[" * 200 + "]" * 200, '{"a":' * 200 + "1" + "}" * 200, '"' + "[" * 999 + '"']
)
def test_depth_that_is_read(text: str):
    assert json.dumps(parse(text), separators=(",", ":")) == text


@pytest.mark.parametrize(
    "text", ["[" * 201 + "]" * 201, "[[]," * 200 + "1" + "]" * 200, '["\\"",' * 300, "{" * 500]
)
def test_depth_that_is_refused(text: str):
    with pytest.raises(JsonFault, match="more than 200 deep"):
        parse(text)


def test_surrogate_pairs_are_fine():
    assert parse('"\\ud83d\\ude00"') == "😀"


def members(value: Any) -> list[tuple[tuple[str | int, ...], Any]]:
    """Every value inside, by its path."""
    found: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    pairs = dict(enumerate(value)) if isinstance(value, list) else value
    for key, inner in pairs.items() if isinstance(pairs, dict) else ():
        found += [((key, *path), one) for path, one in members(inner)]
    return found


@given(VALUES, st.sampled_from([None, 1]))
@settings(deadline=None)
def test_every_value_is_located(value: Any, indent: int | None):
    text = " " + json.dumps(value, indent=indent)
    for path, inner in members(value):
        offset = locate(text, path)
        assert offset is not None
        assert json.JSONDecoder().raw_decode(text, offset)[0] == inner


def test_absent_paths_and_repeated_keys():
    text = '{"a": 1, "a": [7]}'
    assert locate(text, ("b",)) is None
    assert locate(text, ("a", 0, "x")) is None
    assert text[locate(text, ("a", 0)) or 0] == "7"
    assert locate_children(text, ("a",)) == {0: text.index("7")}
    assert locate_children(text, ("b",)) == {}
