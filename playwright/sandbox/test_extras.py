"""What a worker gets only when its agent's source names it, and that no other worker gets it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent / "extras"
SCRIPTS = ["javascript", "typescript"]

OF_SCRIPTS: dict[str, Any] = {
    "address": [
        "https://xn--bcher-kva.example:8443/b?x=1&q=%C3%A4+b%26c#y",
        "xn--bcher-kva.example",
        "8443",
        "ä b&c",
    ],
    "bad_address": ["TypeError", True],
    "query": [["a", "1"], ["a", "2"], ["b", "ä"]],
    "bytes": [0xC3, 0xA4, 0xF0, 0x9F, 0x98, 0x80, 0xEF, 0xBF, 0xBD],
    "text": "ä�",
    "text_in_parts": "😀",
    "fatal": "TypeError",
    "latin": "€ä",
    "base64": ["Yf8A", "abc", "InvalidCharacterError", "InvalidCharacterError"],
    "random": [4, 4, "TypeMismatchError"],
    "too_random": "QuotaExceededError",
    "part_of_a_buffer": [True, True, 0],
    "copy": [True, 86400000, 1, [1, 2], {"list": [1, 2]}, {"list": [1]}],
    "no_copy": "DataCloneError",
}
OF_PYTHON: dict[str, Any] = {
    "tokyo": "2024-07-01T21:00:00+09:00",
    "summer": ["2024-03-31T01:30:00+01:00", "2024-03-31T03:30:00+02:00"],
    "names": [True, True, True],
    "unknown": "'No time zone found with key Mars/Olympus'",
}
CASES = [
    *((language, name, value) for language in SCRIPTS for name, value in OF_SCRIPTS.items()),
    *(("python", name, value) for name, value in OF_PYTHON.items()),
]


@pytest.fixture(scope="module")
def running(drive: Any) -> Iterator[set[str]]:
    """Languages whose agent was started; they are closed in the end."""
    started: set[str] = set()
    yield started
    for language in started:
        drive("close", {"id": f"extras.{language}"})


def ask(drive: Any, running: set[str], language: str, name: str) -> Any:
    if language not in running:
        running.add(language)
        file = FOLDER / ("agent.py" if language == "python" else "agent.js")
        start(drive, f"extras.{language}", language, file.read_text(encoding="utf-8"))
    answer = call(drive, f"extras.{language}", name)
    assert "value" in answer, answer
    value = answer["value"]
    return value if language == "python" and not value.startswith("[") else json.loads(value)


def start(drive: Any, agent_id: str, language: str, source: str, **extra: Any) -> None:
    spec = {"id": agent_id, "language": language, "source": source, "handlers": ["check"]}
    answer = drive("load", {**spec, **extra})
    assert answer.get("exports") == ["check"], answer


def call(drive: Any, agent_id: str, name: str) -> dict[str, Any]:
    store = {"kept": {"list": [1]}}
    spec = {"id": agent_id, "function": "check", "verbatim": True}
    answer: dict[str, Any] = drive("call", {**spec, "arguments": [name], "store": store})
    return answer


@pytest.mark.parametrize(("language", "name", "value"), CASES)
def test_what_is_named_works(
    drive: Any, running: set[str], language: str, name: str, value: Any
) -> None:
    assert ask(drive, running, language, name) == value


@pytest.mark.parametrize("language", SCRIPTS)
def test_ids_are_of_the_fourth_version_and_differ(
    drive: Any, running: set[str], language: str
) -> None:
    first, second = ask(drive, running, language, "ids")
    form = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert re.fullmatch(form, first) and re.fullmatch(form, second) and first != second


SEARCHES = {
    "javascript": """
        const names = ["U", "Text", "b", "struct", "cry"];
        const rest = ["RL", "Encoder", "toa", "uredClone", "pto"];
        const kindOf = (name, at) => typeof globalThis[name + rest[at]];
        export const check = () => names.map(kindOf).join();
    """,
    "python": """
def check():
    try:
        __import__("tz" + "data")
    except ModuleNotFoundError:
        return "absent"
""",
}


@pytest.mark.parametrize(("language", "source"), SEARCHES.items())
def test_who_does_not_name_them_is_spared(
    drive: Any, running: set[str], language: str, source: str
) -> None:
    """Also when another agent of the language has brought them to the frame."""
    ask(drive, running, language, "address" if language == "javascript" else "tokyo")
    start(drive, f"spared.{language}", language, source)
    absent = "undefined,undefined,undefined,undefined,undefined"
    expected = absent if language == "javascript" else "absent"
    assert call(drive, f"spared.{language}", "")["value"] == expected
    drive("close", {"id": f"spared.{language}"})


def test_what_an_agent_library_names_is_there(drive: Any) -> None:
    library = "globalThis.hostOf = (text) => new URL(text).host;"
    source = "export const check = (text) => hostOf(text);"
    start(drive, "library", "javascript", source, libraries={"hosts": library})
    assert call(drive, "library", "https://example.org/a")["value"] == "example.org"
    drive("close", {"id": "library"})
