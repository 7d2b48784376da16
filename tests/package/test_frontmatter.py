from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.agents.front_matter import FrontMatterFault, read_front_matter

GOOD = "---\nname: x\nlist:\n  - a\n  - b: 1\n---\n\nBody\n"


def test_values_body_and_lines():
    front = read_front_matter(GOOD)
    assert front.values == {"name": "x", "list": ["a", {"b": 1}]}
    assert front.body == "Body\n"
    assert front.body_line == 8
    assert front.line(("name",)) == 2
    assert front.line(("list", 1, "b")) == 5
    assert front.line(("list", 7)) == 4


def test_windows_line_ends_and_dots():
    front = read_front_matter("---\r\nname: x\r\n...\r\nBody\r\n")
    assert front.values == {"name": "x"}
    assert front.body == "Body\r\n"
    assert read_front_matter("---\nname: x\n---").body == ""


def test_words_that_are_booleans_elsewhere_are_text():
    assert read_front_matter("---\na: no\nb: on\nc: true\n---\n").values == {
        "a": "no",
        "b": "on",
        "c": True,
    }


@pytest.mark.parametrize(
    ("source", "line", "reason"),
    [
        ("", 1, "begins with front matter"),
        ("name: x\n---\n", 1, "begins with front matter"),
        ("---\nname: x\n", 1, "not closed"),
        ("---\n---\nBody", 2, "key: value"),
        ("---\n- a\n---\n", 2, "key: value"),
        ("---\na: 1\nb: c: d\n---\n", 3, "put the text in quotes"),
        ("---\na: 1\na: 2\n---\n", 3, "duplicate key"),
        ("---\na: 'x\n---\n", 3, "end of stream"),
        ("---\na: &n [1]\nb: *n\n---\n", 3, "anchors and aliases"),
        ("---\na: 2024-05-01\n---\n", None, "date; put it in quotes"),
        ("---\n1: a\n---\n", None, "is no text"),
        ("---\na: .nan\n---\n", None, "no number that JSON has"),
        ("---\na: !!binary aGk=\n---\n", None, "bytes"),
        ("---\na: !!python/object:os.system x\n---\n", 2, "constructor"),
        ("---\na: " + "[" * 3000 + "\n---\n", 2, "nested too deeply"),
        ("---\na: " + "x" * 8200 + "\n---\n", 1, "longer than"),
    ],
)
def test_faults(source: str, line: int | None, reason: str):
    with pytest.raises(FrontMatterFault) as caught:
        read_front_matter(source)
    assert reason in str(caught.value)
    assert caught.value.line == line


def test_a_bomb_of_aliases_is_refused():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    with pytest.raises(FrontMatterFault, match="anchors and aliases"):
        read_front_matter("---\n" + "\n".join(lines) + "\n---\n")


@given(st.text("ab:-[]{}&*!#|>'\"\n\t 1.?,%@~", max_size=40))
@settings(max_examples=300, deadline=None)
def test_anything_is_read_or_refused(text: str):
    try:
        read_front_matter(f"---\n{text}\n---\n")
    except FrontMatterFault as fault:
        assert str(fault)
