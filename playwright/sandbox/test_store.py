"""What a call does to its store is seen, at every depth and whenever it happens.

One agent in four languages; the steps follow each other in one worker, which keeps the store it
has between them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "store"
SUFFIXES = {"javascript": "js", "typescript": "js", "python": "py", "lua": "lua"}

GROWN: dict[str, Any] = {"other": {"list": [1, 2, 3, {"rows": [0]}]}}
FILLED: dict[str, Any] = {"other": {"list": [1, 2, 3, {"rows": [{"n": 1}, {"n": 2}]}]}}
SHRUNK: dict[str, Any] = {"other": {"list": [3, {"rows": [{"n": 2}, {"n": 1}]}]}}

# Function, its result, the store that comes back (None: it counts as unchanged).
STEPS: list[tuple[str, str | None, Any]] = [
    ("put", "true", {"box": {"list": [1]}}),
    ("deepen", None, {"box": {"list": [1, 2]}}),
    ("outside", None, None),  # what was put in is the store's own since the call ended
    ("hold", "true", None),
    ("late", None, {"box": {"list": [1, 2, 3]}}),  # through what the call before was given
    ("read", "10", None),
    ("move", None, {"other": {"list": [1, 2, 3]}}),
    ("touch", "true", None),
    ("dress", "6", None),
    ("grow", None, GROWN),
    ("fill", None, FILLED),
    ("shrink", None, SHRUNK),
    ("whole", json.dumps(SHRUNK), None),
]


@pytest.mark.parametrize("language", SUFFIXES)
def test_every_change_is_seen_and_nothing_else(language: str, drive: Any) -> None:
    name = f"{language}.store"
    source = (FOLDER / f"agent.{SUFFIXES[language]}").read_text("utf-8")
    handlers = [function for function, _, _ in STEPS]
    drive("load", {"id": name, "language": language, "source": source, "handlers": handlers})
    for function, value, after in STEPS:
        answer = drive("call", {"id": name, "function": function, "verbatim": True})
        assert "code" not in answer, (function, answer)
        assert (json.loads(answer["store"]) if answer["changed"] else None) == after, function
        read = json.loads if function == "whole" else str
        assert value is None or read(answer["value"]) == read(value), function
    drive("close", {"id": name})


@pytest.mark.parametrize("language", SUFFIXES)
def test_a_store_that_nobody_looked_at_can_be_the_result(language: str, drive: Any) -> None:
    name = f"{language}.unread"
    source = (FOLDER / f"agent.{SUFFIXES[language]}").read_text("utf-8")
    spec = {"id": name, "language": language, "source": source, "handlers": ["whole"]}
    drive("load", spec)
    call = {"id": name, "function": "whole", "verbatim": True, "store": SHRUNK}
    answer = drive("call", call)
    assert json.loads(answer["value"]) == SHRUNK
    assert not answer["changed"]
    drive("close", {"id": name})
