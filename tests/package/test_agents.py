"""Entries of config.json become programs: lookup, composed instances, libraries."""

from __future__ import annotations

from typing import Any

import pytest
from personae.package.agents.programs import instance_name
from personae.package.model import AgentProgram

from tests.package.package_support import (
    GREETER,
    agent,
    only_problem,
    package,
    problems_of,
    warnings_of,
    with_files,
)
from tests.package.support import load_package

PYTHON = '"""\n@agent park.x\n"""\n'
LUA = "--[[\n@agent park.x\n]]\n"


def files_for(entries: list[Any], **files: str) -> dict[str, bytes]:
    config = {"name": "Ada", "agents": entries}
    return with_files(package(config), {f"agents/{name}": text for name, text in files.items()})


def load_one(entry: Any, files: dict[str, str]) -> AgentProgram:
    [program] = load_package(files_for([entry], **files)).agents
    return program


def test_a_plain_entry():
    program = load_one("park.greeter", {"park.greeter.js": GREETER})
    assert program.agent_id == program.manifest.agent == "park.greeter"
    assert program.path == "agents/park.greeter.js"
    assert program.language == "javascript"
    assert program.source == GREETER
    assert program.config == {}
    assert program.manifest.tools[0].name == "greet"


def test_lookup_order():
    files = {
        "park.x.js": agent("park.x"),
        "park.x.ts": agent("park.x"),
        "park.x.py": PYTHON,
        "park.x.lua": LUA,
    }
    for language in ("javascript", "typescript", "python", "lua"):
        assert load_one("park.x", files).language == language
        files.pop(next(iter(files)))


def test_load_order_is_kept():
    names = ["c", "a", "b"]
    loaded = load_package(files_for(names, **{f"{name}.js": agent(name) for name in names}))
    assert [program.agent_id for program in loaded.agents] == names


def test_a_composed_entry_gets_its_object_and_its_tool_name():
    entry = {"id": "char.cars-db", "implementation": "park.greeter", "contextFile": ".cars.json"}
    program = load_one(entry, {"park.greeter.js": GREETER})
    assert program.agent_id == "char.cars-db"
    assert program.config == entry
    assert [tool.name for tool in program.manifest.tools] == ["cars_db"]
    assert program.manifest.tools[0].description == "Greets somebody by name"


def test_several_tools_keep_their_names_behind_the_instance():
    source = agent("x", "@tool find", "@tool list_all", "@command @find findCommand")
    program = load_one({"id": "char.my-cars.db", "implementation": "x"}, {"x.js": source})
    assert [tool.name for tool in program.manifest.tools] == [
        "my_cars_db_find",
        "my_cars_db_list_all",
    ]
    assert program.manifest.commands[0].name == "find"


def test_instances_of_one_implementation():
    entries = [{"id": f"char.{name}", "implementation": "park.greeter"} for name in ("a", "b")]
    loaded = load_package(files_for(entries, **{"park.greeter.js": GREETER}))
    assert [program.manifest.tools[0].name for program in loaded.agents] == ["a", "b"]
    assert loaded.warnings == ()


@pytest.mark.parametrize(
    ("agent_id", "name"),
    [
        ("char.cars-db", "cars_db"),
        ("lore", "lore"),
        ("a.b.c-d", "b_c_d"),
        ("a.über uns", "_ber_uns"),
    ],
)
def test_instance_names(agent_id: str, name: str):
    assert instance_name(agent_id) == name


def test_the_id_of_the_config_is_registered():
    loaded = load_package(files_for(["park.y"], **{"park.y.js": GREETER}))
    assert loaded.agents[0].agent_id == "park.y"
    assert warnings_of(loaded) == ["its @agent is 'park.greeter'; it is registered as 'park.y'"]


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "a\\b", "..", ".hidden", "C:x", "~x", "a\0", "lib/x"]
)
@pytest.mark.parametrize("composed", [False, True])
def test_path_tricks_are_refused(name: str, composed: bool):
    entry = {"id": "char.x", "implementation": name} if composed else name
    problem = only_problem(files_for([entry], **{"lib/x.js": agent("x")}))
    assert "a name is not a path" in problem.message
    assert (problem.file, problem.line) == ("config.json", 1)


@pytest.mark.parametrize("name", ["x\u202ey", "x\u200by", "x\u2028y", "x” failed. “", "x" * 101])
def test_an_id_that_could_change_the_sentence_around_it_is_refused(name: str):
    entry = {"id": name, "implementation": "x"}
    assert "plain text" in only_problem(files_for([entry], **{"x.js": agent("x")})).message


def test_a_path_trick_in_an_id_is_refused():
    entry = {"id": "../x", "implementation": "x"}
    assert "'../x' is refused" in only_problem(files_for([entry], **{"x.js": agent("x")})).message


def test_everything_missing_is_listed_at_once():
    files = files_for(
        ["park.gone", "park.bare", "park.tools", "park.libs"],
        **{
            "park.bare.js": "export {};",
            "park.tools.js": agent("park.tools", "@tool t", "@tool-params {"),
            "park.libs.js": agent("park.libs", "@lib one", "@lib ../two"),
        },
    )
    listed = [(problem.file, problem.line) for problem in problems_of(files)]
    assert listed == [
        ("config.json", 1),
        ("agents/park.bare.js", None),
        ("agents/park.tools.js", 4),
        ("agents/park.libs.js", None),
        ("agents/park.libs.js", None),
    ]


def test_a_name_that_differs_in_case_is_pointed_out():
    problem = only_problem(files_for(["park.Greeter"], **{"park.greeter.js": GREETER}))
    assert "agents/park.greeter.js differs in upper and lower case" in problem.message


def test_libraries():
    source = agent("x", "@lib dice", "@lib words", "@lib dice")
    files = {
        "x.js": source,
        "lib/dice.js": "globalThis.dice = 1;",
        "lib/dice.min.js": "not this",
        "lib/words.min.js": "globalThis.words = 1;",
    }
    program = load_one("x", files)
    assert [(one.name, one.path) for one in program.libraries] == [
        ("dice", "agents/lib/dice.js"),
        ("words", "agents/lib/words.min.js"),
    ]
    assert program.libraries[0].source == "globalThis.dice = 1;"


def test_a_module_as_library_warns():
    files = {"x.js": agent("x", "@lib d"), "lib/d.js": "const a = 1;\nexport default a;\n"}
    loaded = load_package(files_for(["x"], **files))
    assert "ES module" in warnings_of(loaded)[0]


@pytest.mark.parametrize(
    ("name", "source"),
    [("x.py", '"""\n@agent x\n@lib dice\n"""'), ("x.lua", "--[[\n@agent x\n@lib dice\n]]")],
)
def test_python_and_lua_get_no_library(name: str, source: str):
    loaded = load_package(files_for(["x"], **{name: source, "lib/dice.js": "1"}))
    assert loaded.agents[0].libraries == ()
    assert "no library is loaded" in warnings_of(loaded)[0]


def test_source_is_kept_as_written():
    source = "\ufeff" + agent("x").replace("\n", "\r\n")
    assert load_one("x", {"x.js": source}).source == source[1:]


def test_a_binary_agent_is_an_error():
    files = {**files_for(["x"]), "agents/x.js": b"/** @agent x */\xff"}
    assert "offset 15 " in only_problem(files).message
