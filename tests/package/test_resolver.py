"""fileMappings: every content file renamed, nothing outside the package."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import PackageError
from personae.package.resolver import DEFAULTS

from tests.package.package_support import GREETER, only_problem, package, warnings_of, with_files
from tests.package.support import load_package

MAPPED = {
    "Instructions": "sheet.txt",
    "System Prompt": "prompts/system.txt",
    "Description": "./pub/about.txt",
    "Introduction": "pub\\hello.txt",
    "ContextDirectory": "world-lore/",
}


def mapped(mappings: Any, **more: str) -> dict[str, bytes]:
    return with_files(package({"name": "Ada", "fileMappings": mappings}), more)


def test_every_key_is_mapped():
    texts = {
        "sheet.txt": "sheet",
        "prompts/system.txt": "system",
        "pub/about.txt": "about",
        "pub/hello.txt": "hello",
        "world-lore/deep/a.txt": "lore",
        "system-prompt.txt": "not this",
        "context/b.txt": "nor this",
    }
    loaded = load_package(with_files(mapped(MAPPED), texts))
    assert loaded.instructions == "sheet"
    assert loaded.system_prompt == "system"
    assert loaded.description == "about"
    assert loaded.intro == "hello"
    assert loaded.context == {"deep/a.txt": "lore"}


def test_absent_and_null_keys_keep_their_defaults():
    files = {"system-prompt.txt": "template", "intro.txt": "hello", "context/a.txt": "fact"}
    loaded = load_package(mapped({"Introduction": None}, **files))
    assert (loaded.system_prompt, loaded.intro) == ("template", "hello")
    assert loaded.context == {"a.txt": "fact"}
    assert load_package(mapped(None)).instructions == "You keep the park."


@pytest.mark.parametrize("key", DEFAULTS)
@pytest.mark.parametrize(
    "path", ["../a.txt", "x/../../a.txt", "/a.txt", "..\\a", "\\a", "C:/a", "", ".", "a\0"]
)
def test_a_path_that_leaves_the_package_is_an_error(key: str, path: str):
    problem = only_problem(mapped({key: path}))
    assert problem.file == "config.json"
    assert problem.message.startswith(f"fileMappings[{key!r}]: ")
    assert problem.line == 1


@pytest.mark.parametrize("value", [1, True, ["a"], {"a": 1}])
def test_wrong_types_are_errors(value: Any):
    assert (
        "fileMappings.Instructions must be string"
        in only_problem(mapped({"Instructions": value})).message
    )


@pytest.mark.parametrize("value", [1, "x", []])
def test_mappings_of_the_wrong_type_are_an_error(value: Any):
    assert "fileMappings must be object" in only_problem(mapped(value)).message


def test_unknown_keys_warn():
    assert "no key 'Intro'" in warnings_of(load_package(mapped({"Intro": "x"})))[0]


def test_neither_the_configuration_nor_the_agents_are_remapped():
    mappings = {"config.json": "other.json", "agents": "elsewhere", "agents/": "elsewhere/"}
    config = {"name": "Ada", "agents": ["park.greeter"], "fileMappings": mappings}
    others = {"other.json": '{"name": "Eve"}', "elsewhere/park.greeter.js": "// not this"}
    loaded = load_package(
        with_files(package(config), {**others, "agents/park.greeter.js": GREETER})
    )
    assert (loaded.name, loaded.agents[0].source) == ("Ada", GREETER)
    assert ["no key" in warning for warning in warnings_of(loaded)] == [True] * len(mappings)


def test_a_mapped_file_that_is_missing_is_named():
    assert only_problem(mapped({"Instructions": "sheet.txt"})).file == "sheet.txt"
    loaded = load_package(mapped({"Introduction": "hello.txt", "ContextDirectory": "lore"}))
    assert [problem.file for problem in loaded.warnings] == ["hello.txt", "config.json"]


@given(st.dictionaries(st.sampled_from([*DEFAULTS, "x"]), st.text("ab./\\:", max_size=6)))
@settings(deadline=None)
def test_any_mapping_loads_or_is_refused(mappings: dict[str, str]):
    try:
        loaded = load_package(mapped(mappings))
    except PackageError as error:
        assert error.code == "package_invalid"
    else:
        assert all(".." not in path.split("/") for path in loaded.context)
