"""Content files, the context directory and default agent state."""

from __future__ import annotations

import pytest

from tests.package.package_support import (
    agent,
    only_problem,
    package,
    problems_of,
    warnings_of,
    with_files,
)
from tests.package.support import load_package


def test_content_files():
    loaded = load_package(
        package(**{"system-prompt.txt": "a", "description.txt": "b", "intro.txt": "c\r\n"})
    )
    assert (loaded.system_prompt, loaded.description, loaded.intro) == ("a", "b", "c\r\n")
    assert loaded.instructions == "You keep the park."


def test_absent_content_is_empty():
    loaded = load_package(package())
    assert (loaded.system_prompt, loaded.description, loaded.intro) == ("", "", "")
    assert loaded.context == {}
    assert loaded.warnings == ()


def test_no_instructions_warn():
    files = package()
    del files["instructions.txt"]
    assert "no instructions" in warnings_of(load_package(files))[0]


def test_a_byte_order_mark_is_dropped_everywhere():
    files = with_files(package(), {"intro.txt": "\ufeffHi", "context/a.txt": "\ufefffact"})
    loaded = load_package(files)
    assert (loaded.intro, loaded.context["a.txt"]) == ("Hi", "fact")


def test_context_is_sorted_and_holds_dot_files_and_folders():
    names = ["context/b.txt", "context/.cars.json", "context/deep/a.txt", "contextual.txt"]
    loaded = load_package(with_files(package(), dict.fromkeys(names, "x")))
    assert list(loaded.context) == [".cars.json", "b.txt", "deep/a.txt"]


def test_pictures_are_left_out_with_a_warning():
    loaded = load_package(
        with_files(package(), {"context/map.png": b"\x89PNG\0\0", "context/a": "x"})
    )
    assert list(loaded.context) == ["a"]
    assert loaded.warnings[0].file == "context/map.png"


@pytest.mark.parametrize("path", ["intro.txt", "instructions.txt", "context/a.txt"])
def test_text_that_is_not_utf8_is_an_error(path: str):
    problem = only_problem(with_files(package(), {path: b"caf\xe9"}))
    assert problem.file == path
    assert problem.message.startswith("byte 0xe9 at offset 3 ")


def with_agent(**files: str | bytes) -> dict[str, bytes]:
    base = package({"name": "Ada", "agents": ["x.y"]}, **{"agents__x.y.js": agent("x.y")})
    return with_files(base, {name.replace("__", "/"): data for name, data in files.items()})


def test_default_state():
    loaded = load_package(with_agent(**{"x.y.agent.json": '\ufeff{"n": [1]}'}))
    assert loaded.default_stores == {"x.y": {"n": [1]}}
    assert load_package(with_agent()).default_stores == {}


def test_state_of_nobody_warns():
    files = with_agent(**{"x.z.agent.json": "{}", "sub__x.y.agent.json": "nonsense"})
    loaded = load_package(files)
    assert [problem.file for problem in loaded.warnings] == ["x.z.agent.json"]
    assert loaded.default_stores == {}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [("[1]", 1, "a JSON object"), ('{\n"a": 1,\n}', 2, "comma"), ('{"a": NaN}', None, "NaN")],
)
def test_bad_state_is_an_error(text: str, line: int | None, reason: str):
    problem = only_problem(with_agent(**{"x.y.agent.json": text}))
    assert (problem.file, problem.line) == ("x.y.agent.json", line)
    assert reason in problem.message


def test_a_state_larger_than_any_store_is_an_error():
    state = '{"a": "' + "x" * (8 << 20) + '"}'
    assert "larger than 8,192 KiB" in only_problem(with_agent(**{"x.y.agent.json": state})).message


def test_all_faults_of_all_files_are_listed():
    files = with_agent(**{"x.y.agent.json": "[]", "intro.txt": b"\xff", "context__a": b"\xfe."})
    assert [problem.file for problem in problems_of(files)] == [
        "intro.txt",
        "context/a",
        "x.y.agent.json",
    ]
