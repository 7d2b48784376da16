"""config.json: strict JSON, every wrong value with its line, nothing replaced in silence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import PackageError

from tests.package.package_support import (
    GREETER,
    agent,
    only_problem,
    package,
    problems_of,
    warnings_of,
)
from tests.package.support import load_package

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "implementation", "name", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)


def with_config(text: str | bytes) -> dict[str, bytes]:
    data = text if isinstance(text, bytes) else text.encode()
    return {**package(), "config.json": data}


def test_the_whole_object_is_kept():
    loaded = load_package(package({"name": " Ada ", "model": "m", "temperature": 0.5}))
    assert loaded.name == "Ada"
    assert loaded.config["temperature"] == 0.5


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\u202eadA\u200b\x00\n Lee", "adA Lee"),
        ("x" * 5000, "x" * 79 + "…"),
        ("\u202e\u200b", "Unnamed character"),
        ("\U0001f469\u200d\U0001f680", "\U0001f469\u200d\U0001f680"),
    ],
)
def test_a_name_is_one_plain_line(name: str, shown: str):
    assert load_package(package({"name": name})).name == shown


def test_byte_order_mark_and_windows_line_ends():
    data = '\ufeff{\r\n  "name": "Ada"\r\n}\r\n'.encode()
    assert load_package(with_config(data)).name == "Ada"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"name": "Ada",}', 1, 15),
        ('{\n  "name": "Ada", // the name\n}', 2, 18),
        ('{\n  "name": Ada\n}', 2, 11),
        ('["Ada"]', 1, 1),
    ],
)
def test_bad_json_has_line_and_column(text: str, line: int, column: int):
    problem = only_problem(with_config(text))
    assert (problem.file, problem.line, problem.column) == ("config.json", line, column)


def test_bad_utf8_has_an_offset():
    assert "offset 10 " in only_problem(with_config(b'{"name": "\xe9"}')).message


def test_every_wrong_type_is_reported_at_its_line():
    config = {
        "name": 7,
        "agents": ["a", 1, {"id": "b"}, {"id": 2, "implementation": "c"}, "", None],
        "fileMappings": [],
        "model": {},
    }
    problems = problems_of(with_config(json.dumps(config, indent=1)))
    seen = {problem.message: problem.line for problem in problems if problem.file == "config.json"}
    assert seen["name must be string, is integer"] == 2
    assert seen["agents[1] must be string or object, is integer"] == 5
    assert seen["agents[2] 'implementation' is required"] == 6
    assert seen["agents[3].id must be string, is integer"] == 10
    assert seen["agents[4] must not be empty"] == 13
    assert seen["agents[5] must be string or object, is null"] == 14
    assert seen["fileMappings must be object, is array"] == 16
    assert seen["model must be string, is object"] == 17


def test_long_lists_of_faults_and_agents_end():
    problems = problems_of(package({"name": "Ada", "agents": [1] * 150}))
    assert len(problems) == 101
    assert problems[-1].message == "50 more values are wrong"
    many = only_problem(package({"name": "Ada", "agents": ["studio.memory-store"] * 1001}))
    assert many.message == "agents has more than 1000 items"


def test_a_huge_config_is_refused():
    assert "larger than 1,024 KiB" in only_problem(package({"name": "x" * (1 << 20)})).message


@pytest.mark.parametrize("config", [{}, {"name": None}, {"name": "  "}])
def test_no_name_is_said(config: Any):
    loaded = load_package(package(config))
    assert loaded.name == "Unnamed character"
    assert "no name" in warnings_of(loaded)[0]


def test_absent_agents_are_none():
    assert load_package(package({"name": "Ada", "agents": None})).agents == ()


def test_a_repeated_id_counts_once():
    config = {
        "name": "Ada",
        "agents": ["park.greeter", {"id": "park.greeter", "implementation": "x"}],
    }
    files = package(config, **{"agents__park.greeter.js": GREETER})
    loaded = load_package(files)
    assert [one.agent_id for one in loaded.agents] == ["park.greeter"]
    assert "repeats the id" in warnings_of(loaded)[0]
    assert loaded.warnings[0].line == 1


def test_names_that_mean_something_elsewhere_are_only_names():
    config = '{"name": "__proto__", "__proto__": {"x": 1}, "agents": ["constructor"]}'
    files = {**with_config(config), "agents/constructor.js": agent("constructor").encode()}
    files["context/__proto__"] = b"x"
    loaded = load_package(files)
    assert loaded.name == "__proto__"
    assert loaded.config["__proto__"] == {"x": 1}
    assert loaded.context == {"__proto__": "x"}
    assert loaded.agents[0].agent_id == "constructor"


@given(st.dictionaries(st.sampled_from(["name", "agents", "fileMappings", "model"]), ANY_JSON))
@settings(max_examples=80, deadline=None)
def test_any_config_loads_or_is_refused(config: Any):
    try:
        load_package(package(config))
    except PackageError as error:
        assert error.detail["problems"]
