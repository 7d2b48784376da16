"""Sub-agents: prompt files, overrides, grants, and what a mistake in them looks like."""

from __future__ import annotations

from typing import Any

import pytest
from personae.package.model import AgentProgram, Package

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

PROMPT = """\
---
name: lore-keeper
description: Knows the lore
---
You are %%CHARACTER_NAME%%'s memory.
"""
QUESTION = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
}


def prompt(*lines: str, body: str = "Body.") -> str:
    return "\n".join(["---", "name: lore", "description: d", *lines, "---", body])


def files_for(*entries: Any, text: str = PROMPT, **more: str) -> dict[str, bytes]:
    files = package({"name": "Ada", "agents": [*entries]})
    named = {f"agents/{name}": source for name, source in more.items()}
    return with_files(files, {"agents/lore.subagent.md": text, **named})


def composed(**fields: Any) -> dict[str, Any]:
    wiring = {"id": "eve.lore-master", "implementation": "studio.sub-agent"}
    return {**wiring, "promptFile": "lore.subagent.md", **fields}


def load(*entries: Any, text: str = PROMPT, **more: str) -> Package:
    return load_package(files_for(*entries, text=text, **more))


def sub_agent(loaded: Package) -> AgentProgram:
    [program] = [one for one in loaded.agents if one.sub_agent]
    return program


def test_a_shorthand_entry():
    program = sub_agent(load("lore.subagent.md"))
    assert program.agent_id == "lore"
    assert program.language == "javascript"
    [tool] = program.manifest.tools
    assert (tool.name, tool.description, tool.parameters) == (
        "lore_keeper",
        "Knows the lore",
        QUESTION,
    )
    assert set(program.config) == {"meta", "promptBody"}
    assert program.config["promptBody"] == "You are %%CHARACTER_NAME%%'s memory.\n"
    meta = program.config["meta"]
    assert meta["maxTokens"] == 1024
    assert meta["maxRounds"] == 5
    assert (meta["model"], meta["history"], meta["context"]) == ("worker", "none", "none")
    assert program.manifest.description == "Knows the lore"
    assert "studio.model" in program.manifest.apis


def test_a_composed_entry_names_the_tool_by_its_id():
    program = sub_agent(load(composed()))
    assert program.agent_id == "eve.lore-master"
    assert program.manifest.tools[0].name == "lore_master"
    assert program.config["meta"]["name"] == "lore-keeper"


def test_a_prompt_file_as_implementation():
    entry = {"id": "eve.x", "implementation": "lore.subagent.md"}
    assert sub_agent(load(entry)).manifest.tools[0].name == "x"


def test_overrides_win_over_front_matter_and_both_over_defaults():
    text = prompt("model: main", "temperature: 0.5", "history: full", "maxTokens: 10")
    parameters = {"properties": {"who": {"type": "string"}}}
    entry = composed(history="recent:10", topP=1, description="other", parameters=parameters)
    program = sub_agent(load(entry, text=text))
    meta = program.config["meta"]
    assert (meta["model"], meta["temperature"], meta["topP"]) == ("main", 0.5, 1)
    assert (meta["history"], meta["maxTokens"], meta["maxRounds"]) == ("recent:10", 10, 5)
    assert program.manifest.tools[0].description == "other"
    assert program.manifest.tools[0].parameters == {"type": "object", **parameters}


def test_overrides_that_mean_nothing_warn():
    loaded = load(composed(name="other", colour="red"))
    assert sub_agent(loaded).config["meta"]["name"] == "lore-keeper"
    assert warnings_of(loaded) == [
        "eve.lore-master: 'name' overrides nothing",
        "eve.lore-master: 'colour' overrides nothing",
    ]


def test_unknown_keys_warn_with_their_line():
    loaded = load("lore.subagent.md", text=prompt("colour: red"))
    [warning] = loaded.warnings
    assert (warning.file, warning.line) == ("agents/lore.subagent.md", 4)
    assert "'colour' means nothing here" in warning.message


@pytest.mark.parametrize(
    "line",
    [
        "model: gpt",
        "temperature: hot",
        "temperature: 3",
        "topP: 2",
        "maxTokens: 0",
        "maxTokens: 9000",
        "maxTokens: '10'",
        "maxRounds: 11",
        "maxRounds: true",
        "history: some",
        "history: recent:0",
        "history: 5",
        "context: some",
        "context: [1]",
        "shared-agents: x",
        "private-agents: [{id: x}]",
        "parameters: text",
        "parameters: {type: array}",
        "parameters: {properties: 1}",
    ],
)
def test_wrong_values_are_errors_with_their_line(line: str):
    problem = only_problem(files_for("lore.subagent.md", text=prompt(line)))
    assert (problem.file, problem.line) == ("agents/lore.subagent.md", 4)
    assert problem.message.startswith(line.split(":")[0])


@pytest.mark.parametrize(
    "field",
    [{"model": "gpt"}, {"maxRounds": 0}, {"history": 1}, {"parameters": {"type": "string"}}],
)
def test_wrong_overrides_are_errors_in_the_config(field: dict[str, Any]):
    problem = only_problem(files_for(composed(**field)))
    assert (problem.file, problem.line) == ("config.json", 1)
    assert problem.message.startswith(f"eve.lore-master: {next(iter(field))}")


@pytest.mark.parametrize(
    ("entry", "text", "file", "reason"),
    [
        (composed(promptFile="gone.md"), PROMPT, "config.json", "there is no agents/gone.md"),
        (composed(promptFile="../config.json"), PROMPT, "config.json", "leaves the package"),
        (composed(promptFile=""), PROMPT, "config.json", "must not be empty"),
        ("gone.subagent.md", PROMPT, "config.json", "there is no agents/gone.subagent.md"),
        ("../x.subagent.md", PROMPT, "config.json", "a name is not a path"),
        ("lore.subagent.md", "Body", "agents/lore.subagent.md", "begins with front matter"),
        ("lore.subagent.md", "---\n: :\n---\n", "agents/lore.subagent.md", ""),
    ],
)
def test_prompt_files_that_cannot_be_used(entry: Any, text: str, file: str, reason: str):
    problems = problems_of(files_for(entry, text=text))
    assert problems[0].file == file
    assert reason in problems[0].message


def test_a_composed_entry_without_prompt_file():
    entry = {"id": "eve.x", "implementation": "studio.sub-agent"}
    assert "promptFile is missing" in only_problem(files_for(entry)).message


def test_missing_name_and_description_are_both_reported():
    problems = problems_of(files_for("lore.subagent.md", text="---\nmodel: main\n---\n"))
    assert {problem.message for problem in problems} == {
        "'name' is required",
        "'description' is required",
    }


def test_the_package_may_ship_its_own_runtime():
    own = agent("studio.sub-agent", "@api studio.model", body="// own")
    program = sub_agent(load("lore.subagent.md", **{"studio.sub-agent.js": own}))
    assert program.source == own
    assert program.manifest.apis == {"studio.model"}
    assert program.config["promptBody"].startswith("You are")


def test_instructions_are_expanded_by_the_player():
    text = prompt(body="%%CHARACTER_INSTRUCTIONS%% and %%CHARACTER_INSTRUCTIONS%%")
    body = sub_agent(load("lore.subagent.md", text=text)).config["promptBody"]
    assert body == "You keep the park. and You keep the park."


def test_context_all_is_resolved_to_files():
    files = with_files(
        files_for("lore.subagent.md", text=prompt("context: all")),
        {"context/b.txt": "b", "context/.a": "a", "context/.d/x": "x", "context/c/d.txt": "d"},
    )
    meta = sub_agent(load_package(files)).config["meta"]
    assert (meta["context"], meta["contextFiles"]) == ("all", ["b.txt", "c/d.txt"])


def test_context_files_may_be_hidden_and_missing_ones_warn():
    files = files_for("lore.subagent.md", text=prompt("context: [.a, gone.txt]"))
    loaded = load_package(with_files(files, {"context/.a": "a"}))
    assert sub_agent(loaded).config["meta"]["contextFiles"] == [".a", "gone.txt"]
    assert "context names 'gone.txt'" in warnings_of(loaded)[0]


def test_grants():
    db = {"id": "char.cars-db", "implementation": "park.greeter", "x": 1}
    text = prompt("shared-agents: [park.greeter, park.greeter]")
    loaded = load(
        "park.greeter",
        composed(**{"private-agents": ["studio.memory-store", db]}),
        text=text,
        **{"park.greeter.js": GREETER},
    )
    granted = sub_agent(loaded).sub_agent
    assert granted is not None
    assert granted.shared == ("park.greeter",)
    memory, cars = granted.private
    assert memory.agent_id == "eve.lore-master.studio.memory-store"
    assert memory.manifest.tools[0].name == "memory_remember"
    assert cars.agent_id == "eve.lore-master.char.cars-db"
    assert [tool.name for tool in cars.manifest.tools] == ["cars_db"]
    assert cars.config == db
    assert loaded.warnings == ()


def test_private_agents_have_default_state():
    files = files_for("lore.subagent.md", text=prompt("private-agents: [studio.memory-store]"))
    loaded = load_package(with_files(files, {"lore.studio.memory-store.agent.json": '{"a": 1}'}))
    assert loaded.default_stores == {"lore.studio.memory-store": {"a": 1}}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("shared-agents: [gone]", "'gone', which is not in agents"),
        ("shared-agents: [lore]", "cannot share itself"),
        ("private-agents: [gone]", "there is no agents/gone"),
        ("private-agents: [x.subagent.md]", "cannot be private"),
        ("private-agents: [../x]", "a name is not a path"),
    ],
)
def test_grants_that_do_not_resolve_are_errors(line: str, reason: str):
    assert reason in only_problem(files_for("lore.subagent.md", text=prompt(line))).message


def test_a_private_agent_listed_twice_counts_once():
    text = prompt("private-agents: [park.greeter, park.greeter]")
    loaded = load("lore.subagent.md", text=text, **{"park.greeter.js": GREETER})
    granted = sub_agent(loaded).sub_agent
    assert granted is not None
    assert len(granted.private) == 1
    assert "listed twice" in warnings_of(loaded)[0]


def test_a_private_agent_never_shares_an_id_with_another():
    text = prompt("private-agents: [park.greeter]")
    intruder = {"id": "lore.park.greeter", "implementation": "park.greeter"}
    problem = only_problem(
        files_for("lore.subagent.md", intruder, text=text, **{"park.greeter.js": GREETER})
    )
    assert "both have the id 'lore.park.greeter'" in problem.message


def test_macros_that_expand_to_nothing_warn_with_their_line():
    body = "\n".join(
        [
            "%%CONTEXT%% %%HISTORY%% %%CHARACTER_NAME%% %%ARG:question%% 100%% %%lower%%",
            "%%STORE:lore-memory%% %%STORE:park.greeter%% %%STORE:greet%%",
            "%%WEATHER%% %%ARG:answer%%",
            "%%STORE:park.other%% %%CONTEXT:x%%",
        ]
    )
    own = "{id: greet, implementation: park.greeter}"
    text = prompt(f"private-agents: [{own}]", "shared-agents: [lore-memory]", body=body)
    memory = {"id": "lore-memory", "implementation": "studio.memory-store"}
    loaded = load("lore.subagent.md", memory, text=text, **{"park.greeter.js": GREETER})
    assert [(one.line, one.message) for one in loaded.warnings] == [
        (9, "%%WEATHER%% is no macro; it stays as written"),
        (9, "%%ARG:answer%% is no parameter of this sub-agent"),
        (10, "%%STORE:park.other%% is no agent granted to this sub-agent"),
        (10, "%%CONTEXT:x%% is no macro; it stays as written"),
    ]


def test_floods_in_a_prompt_file_end():
    loaded = load("lore.subagent.md", text=prompt(body="%%NO_MACRO%%\n" * 3000))
    assert len(loaded.warnings) == 1000
    large = files_for("lore.subagent.md", text=prompt(body="x" * (256 << 10)))
    assert "larger than 256 KiB" in only_problem(large).message
    grants = prompt(f"shared-agents: [{'x, ' * 101}]")
    [problem] = problems_of(files_for("lore.subagent.md", text=grants))
    assert problem.message == "shared-agents has more than 100 items"


def test_one_fault_of_a_shared_file_is_reported_once():
    own = agent("studio.sub-agent", "@tool t", "@tool-params {")
    entries = [composed(id=f"eve.{number}") for number in range(3)]
    assert len(problems_of(files_for(*entries, **{"studio.sub-agent.js": own}))) == 1
