"""What people and models are told of what an agent threw."""

from __future__ import annotations

from typing import Any

import pytest
from personae.protocol import limit
from personae.sandbox.thrown import Thrown

FILES = ("agents/a.js", "agents/lib/dice.js")

# Fields that the worker sent; what the model is told; the agent's words and the place, for people.
ROWS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"message": "boom"}, "boom", "boom", ""),
    ({"message": "no luck", "name": "Error"}, "no luck", "Error: no luck", ""),
    ({"message": "'moood'", "name": "KeyError"}, "KeyError: 'moood'", "KeyError: 'moood'", ""),
    ({"message": "404", "name": "RangeError"}, "RangeError: 404", "RangeError: 404", ""),
    ({"message": "404", "name": "Error"}, "404", "Error: 404", ""),
    ({"message": "404", "name": "number"}, "404", "404", ""),
    ({"message": "'so' said he", "name": "OSError"}, "'so' said he", "OSError: 'so' said he", ""),
    ({"message": "TypeError", "name": "TypeError"}, "TypeError", "TypeError", ""),
    (
        {"message": "no", "name": "Error", "file": "agents/a.js", "line": 3},
        "no",
        "Error: no",
        " (agents/a.js, line 3)",
    ),
    ({"message": "no", "file": "agents/lib/dice.js"}, "no", "no", " (agents/lib/dice.js)"),
    ({"message": "agents/a.js:3: no", "file": "agents/a.js"}, *["agents/a.js:3: no"] * 2, ""),
    ({"message": "no", "file": "Press here to go on", "line": 3}, "no", "no", ""),
]


@pytest.mark.parametrize(("fields", "model", "words", "place"), ROWS)
def test_what_is_told(fields: dict[str, Any], model: str, words: str, place: str) -> None:
    thrown = Thrown.read(fields, FILES)
    assert (thrown.for_model(), thrown.words(), thrown.place()) == (model, words, place)
    assert thrown.located() == words + place


def test_what_a_stranger_sends_is_bounded_and_well_formed() -> None:
    long = "\ud800" * 100_000
    thrown = Thrown.read({"message": long, "name": long, "file": long, "stack": long}, FILES)
    assert len(thrown.message) == len(thrown.stack or "") == limit("noticeCharacters")
    assert len(thrown.type or "") == limit("nameCharacters")
    (thrown.message + str(thrown.type) + str(thrown.stack)).encode()
