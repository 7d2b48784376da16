"""What people and models are told of what an agent threw."""

from __future__ import annotations

from typing import Any

import pytest
from personae.protocol import limit
from personae.sandbox.thrown import Thrown

# Fields that the worker sent, what the model is told, what people are told.
ROWS: list[tuple[dict[str, Any], str, str]] = [
    ({"message": "boom"}, "boom", "boom"),
    ({"message": "no luck", "name": "Error"}, "no luck", "Error: no luck"),
    ({"message": "'moood'", "name": "KeyError"}, "KeyError: 'moood'", "KeyError: 'moood'"),
    ({"message": "404", "name": "RangeError"}, "RangeError: 404", "RangeError: 404"),
    ({"message": "404", "name": "Error"}, "404", "Error: 404"),
    ({"message": "404", "name": "number"}, "404", "404"),
    ({"message": "'so' he said", "name": "ValueError"}, "'so' he said", "ValueError: 'so' he said"),
    ({"message": "TypeError", "name": "TypeError"}, "TypeError", "TypeError"),
    (
        {"message": "no", "name": "Error", "file": "agents/a.js", "line": 3},
        "no",
        "Error: no (agents/a.js, line 3)",
    ),
    ({"message": "no", "file": "agents/a.js"}, "no", "no (agents/a.js)"),
    (
        {"message": "agents/a.lua:3: no", "name": "error", "file": "agents/a.lua", "line": 3},
        "agents/a.lua:3: no",
        "agents/a.lua:3: no",
    ),
]


@pytest.mark.parametrize(("fields", "model", "people"), ROWS)
def test_what_is_told(fields: dict[str, Any], model: str, people: str) -> None:
    thrown = Thrown.read(fields)
    assert (thrown.for_model(), thrown.placed()) == (model, people)


def test_what_a_stranger_sends_is_bounded_and_well_formed() -> None:
    long = "\ud800" * 100_000
    thrown = Thrown.read({"message": long, "name": long, "file": long, "stack": long})
    assert len(thrown.message) == len(thrown.stack or "") == limit("noticeCharacters")
    assert len(thrown.type or "") == len(thrown.file or "") == limit("nameCharacters")
    (thrown.message + str(thrown.type) + str(thrown.file) + str(thrown.stack)).encode()
