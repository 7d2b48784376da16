"""Tool arguments: read, repaired where one reading exists, never invented."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.errors import ModelError
from personae.llm.arguments import parse_arguments, sendable_arguments


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n", {}),
        ("null", {}),
        ("{}", {}),
        ('{"a": 1}', {"a": 1}),
        ("\ufeff{}", {}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('"\\"{}\\""', {}),
        ('""', {}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```{"a": 1}```', {"a": 1}),
        ('"```json\\n{}\\n```"', {}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2, ], }', {"a": [1, 2]}),
        ("{'a': 'b'}", {"a": "b"}),
        ("{'a': 'it\\'s \"so\"'}", {"a": 'it\'s "so"'}),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}),
        ('{a: 1, $b_2: "x"}', {"a": 1, "$b_2": "x"}),
        ('{"a": "line\nline\ttab"}', {"a": "line\nline\ttab"}),
        ('{"a": ",}"}', {"a": ",}"}),
        ('{"a": "True, None,]",}', {"a": "True, None,]"}),
        ('{"a": "\\ud83c\\udf19 \\ud83c"}', {"a": "\U0001f319 \ufffd"}),
        ('{"__proto__": {"x": 1}}', {"__proto__": {"x": 1}}),
        ('{"a": 12345678901234567890}', {"a": 12345678901234567890}),
    ],
)
def test_readings(text: str, value: dict[str, Any]) -> None:
    assert parse_arguments(text) == value


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1',
        '{"a": "b',
        '{"a":',
        "{",
        "```json\n{",
        "[]",
        "[{}]",
        "1",
        "true",
        '"text"',
        '{"a": 1}{"a": 1}',
        '{"a": 1}}',
        '{"a": 1 2}',
        '{"a": 1,,}',
        '{"a": hello}',
        '{"a": "b" "c"}',
        "{'a': 'it's'}",
        '{"a": "\\x41"}',
        '{"a": "\\\n"}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 0x10}',
        '{"a": 01}',
        '{"a": 1.}',
        "{true: 1}",
        "{None: 1}",
        "{1: 2}",
        '{"a": (1, 2)}',
        '{"a" "b"}',
        '{"a": 1; "b": 2}',
        "call me",
        '{"a": ' + "[" * 500 + "]" * 500 + "}",
        '{"a": ' + "[" * 50_000,
        '{"a": ' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"a": ' + "9" * 10_000 + "}",
    ],
)
def test_refusals(text: str) -> None:
    with pytest.raises(ModelError, match="one JSON object") as caught:
        parse_arguments(text)
    assert caught.value.code == "tool_arguments_invalid"
    assert sendable_arguments(text) == "{}"
    assert len(caught.value.message) < 400


def test_the_message_names_the_place() -> None:
    with pytest.raises(ModelError, match="line 2 column 7"):
        parse_arguments('{"a": 1,\n "b": }')


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ('{"a":  1}', '{"a":  1}'),
        ("", "{}"),
        ("{'a': 1,}", '{"a": 1}'),
        ('"{}"', "{}"),
        ('{"a": "\\ud83c"}', '{"a": "\ufffd"}'),
    ],
)
def test_what_a_request_carries(text: str, sent: str) -> None:
    assert sendable_arguments(text) == sent


KEYS = st.from_regex(r"[a-z][a-z0-9_]{0,4}", fullmatch=True).filter(
    lambda key: key not in ("true", "false", "null")
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=3)


@given(OBJECTS)
def test_what_is_valid_is_read_as_it_is(value: dict[str, Any]) -> None:
    text = json.dumps(value)
    assert parse_arguments(text) == value
    assert json.loads(sendable_arguments(text)) == value
    assert parse_arguments(json.dumps(text)) == value
    assert parse_arguments(f"```json\n{text}\n```") == value


@given(OBJECTS)
def test_what_python_prints_is_read_as_python_means_it(value: dict[str, Any]) -> None:
    """repr uses escapes that JSON lacks: then it is refused, never misread."""
    try:
        read = parse_arguments(repr(value))
    except ModelError:
        assert "\\x" in repr(value) or "\\U" in repr(value)
    else:
        assert read == value


@given(OBJECTS, st.data())
def test_a_beginning_is_never_completed(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(ModelError):
        parse_arguments(text[:cut])


@given(st.text(alphabet="{}[]:,'\"\\ab1-.eE \nTrueNone`", max_size=20))
def test_repair_never_invents(text: str) -> None:
    """Every key and value that is read stands in the text, in the order it was read."""
    try:
        value = parse_arguments(text)
    except ModelError:
        return
    at = 0
    for word in leaves(value):
        at = text.find(word, at)
        assert at >= 0, (text, value)
        at += len(word)


def leaves(value: Any) -> list[str]:
    """The words and numbers of a value in order, as far as they are written only one way."""
    if isinstance(value, dict):
        return [word for key, item in value.items() for word in leaves(key) + leaves(item)]
    if isinstance(value, list):
        return [word for item in value for word in leaves(item)]
    plain = isinstance(value, str) and not set(value) & set("\\'\"\n")
    whole = isinstance(value, int) and not isinstance(value, bool)
    return [str(value)] if plain or whole else []


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    sent = json.loads(sendable_arguments(text))
    try:
        assert parse_arguments(text) == sent
    except ModelError:
        assert sent == {}


@pytest.mark.parametrize(
    "shape", ['{{"a": "{}"}}', '{{"a": "{}",}}', '"{{\\"a\\": \\"{}\\"}}"', '{{"a": "{}']
)
def test_long_arguments_take_linear_time(shape: str) -> None:
    def seconds(size: int) -> float:
        text = shape.format("x" * size)
        started = time.process_time()
        sendable_arguments(text)
        return time.process_time() - started

    seconds(1000)
    assert seconds(10_000_000) < 100 * max(seconds(1_000_000), 0.001)
