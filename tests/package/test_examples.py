"""docs/packages.md and the examples it refers to: they load, run, and say what the code does."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from personae.authoring.check import check_path
from personae.package import config, content, json_text
from personae.package.agents import front_matter, prompt_file
from personae.package.agents.manifest import APIS, HOOKS
from personae.package.agents.prompt_file import DEFAULTS as FRONT_MATTER
from personae.package.archive import unzip, zip_directory
from personae.package.json_schema import own_schema
from personae.package.model import Package
from personae.package.resolver import DEFAULTS

from tests.package.support import BUILTIN_FOLDER, load_package
from tests.package.test_builtin import NODE, RUNNER

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_dir())
DOCS = (ROOT / "docs" / "packages.md").read_text("utf-8")


def example(name: str) -> Package:
    root = ROOT / "examples" / name
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }
    return load_package(files)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_faultless_and_mentioned(path: Path):
    assert check_path(path) == []
    assert f"(../examples/{path.name})" in DOCS


def test_every_link_of_the_page_leads_somewhere():
    for target in re.findall(r"\]\((\.\./[^)]+)\)", DOCS):
        assert (ROOT / "docs" / target).exists()


def test_the_page_names_everything_there_is():
    tags = "agent version description tool tool-description tool-params command preload api lib"
    names = [f"`@{tag} " for tag in [*tags.split(), "hook", "debug"]]
    names += [f"`{name}`" for name in (*APIS, *HOOKS, *own_schema("subagent")["properties"])]
    names += [f"| `{key}` | `{value}" for key, value in DEFAULTS.items()]
    names += [f"`{path.stem}`" for path in BUILTIN_FOLDER.glob("*.js")]
    assert [name for name in names if name not in DOCS] == []


def test_the_page_gives_the_limits_and_defaults():
    mebibyte = 1 << 20
    assert f"{unzip.MAX_ARCHIVE_BYTES // mebibyte} MiB" in DOCS
    assert (
        f"{unzip.MAX_INFLATED_BYTES // mebibyte} MiB, and "
        f"{unzip.INFLATION_FLOOR // mebibyte} MiB plus {unzip.INFLATION_RATIO} times" in DOCS
    )
    assert f"| one file | {unzip.MAX_FILE_BYTES // mebibyte} MiB |" in DOCS
    assert f"| entries | {zip_directory.MAX_ENTRIES:,} |" in DOCS
    assert f"| front matter | {front_matter.MAX_CHARACTERS:,} characters |" in DOCS
    assert (config.MAX_CONFIG_BYTES, prompt_file.MAX_PROMPT_BYTES, content.MAX_STATE_BYTES) == (
        1 << 20,
        256 << 10,
        8 << 20,
    )
    assert f"| nesting of JSON | {json_text.MAX_DEPTH} |" in DOCS
    assert f"| 1 to 8192 | {FRONT_MATTER['maxTokens']} |" in DOCS
    assert f"granted tools | {FRONT_MATTER['maxRounds']} |" in DOCS


def test_the_page_shows_front_matter_that_loads():
    indented = re.search(r"    ---\n.*?    ---\n.*?\n", DOCS, re.DOTALL)
    assert indented
    prompt = re.sub(r"^    ", "", indented[0], flags=re.MULTILINE)
    files = {
        "config.json": b'{"name": "Mara", "agents": ["x.subagent.md"]}',
        "instructions.txt": b"x",
        "context/weather.txt": b"x",
        "agents/x.subagent.md": prompt.encode(),
    }
    assert load_package(files).warnings == ()


def test_minimal():
    loaded = example("minimal")
    assert loaded.intro.startswith("Wind's turning.")
    assert loaded.agents == ()


def test_renamed_files():
    loaded = example("renamed-files")
    assert "%%CHARACTER_INSTRUCTIONS%%" in loaded.system_prompt
    assert loaded.instructions.startswith("You are Mara")
    assert list(loaded.context) == ["people/tomas.txt", "place.txt"]


def test_every_tag():
    [logbook] = example("every-tag").agents
    manifest = logbook.manifest
    assert (
        manifest.description == "Keeps the logbook of the light: what happened, and who was told."
    )
    assert [tool.name for tool in manifest.tools] == ["log_event", "read_log"]
    assert manifest.hooks == HOOKS
    assert manifest.debug
    assert [library.name for library in logbook.libraries] == ["tally"]


def test_every_tag_runs():
    root = ROOT / "examples" / "every-tag" / "agents"
    event = {"what": "The lamp went out", "importance": "high"}
    calls: list[dict[str, Any]] = [
        {"function": "onConversationStart", "arguments": [{"isNewConversation": True}]},
        {"function": "onBeforeResponse", "arguments": [{"regenerate": False}]},
        {"function": "onToolCall", "arguments": ["log_event", event], "context": {"toolCallId": 1}},
        {"function": "logCommand", "arguments": [" "]},
        {"function": "logCommand", "arguments": ["Tomas came"]},
        {"function": "onToolCall", "arguments": ["read_log", {}]},
        {"function": "onAfterToolCall", "arguments": [{"agentId": "other"}]},
        {"function": "onAfterResponse", "arguments": [{"stopped": True}]},
        {"function": "onAfterUserEdit", "arguments": [{"deletedToolCallIds": [1]}]},
        {"function": "onLoad", "arguments": []},
    ]
    played = run_javascript(
        root / "skarn.logbook.js", calls, libraries=[str(root / "lib" / "tally.js")]
    )
    results = played["results"]
    assert results[2] == "Written: The lamp went out"
    assert results[3].startswith("Write what happened")
    assert json.loads(results[5])["kinds"] == {"high": 1, "low": 1}
    assert results[9] == "Logbook:\n- Tomas came"
    assert played["log"] == ["Logbook: The lamp went out"]
    assert played["store"]["others"] == ["other"]
    assert played["store"]["lastAnswerStopped"] is True


def run_javascript(file: Path, calls: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    history = [{"index": 0, "role": "user", "content": "Show me the logbook."}]
    script = {"file": str(file), "history": history, "files": {}, "calls": calls, **more}
    done = subprocess.run(
        [NODE, RUNNER], input=json.dumps(script), capture_output=True, text=True, check=True
    )
    played: dict[str, Any] = json.loads(done.stdout)
    return played


def tally_calls(tool: str, field: str, command: str) -> list[list[Any]]:
    """What each of the four agents is called with, as [function, ...arguments]."""
    return [
        ["load", "@store"],
        ["tool", tool, {field: 3}, "@store"],
        ["tool", tool, {field: 4}, "@store"],
        [command, "many", "@store"],
        [command, "9", "@store"],
        ["load", "@store"],
    ]


def expected(what: str) -> list[Any]:
    return [
        None,
        f"{what} so far: 3",
        f"{what} so far: 7",
        "Write a number.",
        None,
        f"{what} so far: 9",
    ]


FOUR = ROOT / "examples" / "four-languages" / "agents"


def test_four_languages():
    agents = example("four-languages").agents
    assert [agent.language for agent in agents] == ["javascript", "typescript", "python", "lua"]


@pytest.mark.parametrize(
    ("file", "kind", "command"),
    [("skarn.tide-js.js", "sails", "setSails"), ("skarn.tide-ts.ts", "ferries", "setFerries")],
)
def test_javascript_and_typescript_examples(file: str, kind: str, command: str):
    names = {"load": "onLoad", "tool": "onToolCall"}
    calls = [
        {"function": names.get(name, name), "arguments": [one for one in given if one != "@store"]}
        for name, *given in tally_calls(f"count_{kind}", kind, command)
    ]
    assert run_javascript(FOUR / file, calls)["results"] == expected(kind.capitalize())


def test_python_example():
    module: dict[str, Any] = {}
    exec((FOUR / "skarn.tide-py.py").read_text("utf-8"), module)
    names = {"load": "on_load", "tool": "on_tool_call"}
    store: dict[str, Any] = {}
    results = []
    for name, *given in tally_calls("count_trawlers", "trawlers", "set_trawlers"):
        value = module[names.get(name, name)](*(store if one == "@store" else one for one in given))
        results.append(asyncio.run(value) if inspect.isawaitable(value) else value)
    assert results == expected("Trawlers")


def test_lua_example():
    names = {"load": "on_load", "tool": "on_tool_call"}
    calls = [
        [names.get(name, name), *given]
        for name, *given in tally_calls("count_gulls", "gulls", "set_gulls")
    ]
    runner = Path(__file__).with_name("lua_runner.mjs")
    modules = ROOT / "worker" / "package.json"
    command = [NODE, runner, modules, FOUR / "skarn.tide-lua.lua", json.dumps(calls)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"] == expected("Gulls")


def test_lookup():
    loaded = example("lookup")
    tools = [agent.manifest.tools[0].name for agent in loaded.agents]
    assert tools == ["ships_db", "wrecks", "almanac", "search_history"]
    assert loaded.agents[1].config["contextFile"] == ".wrecks.json"
    assert {".ships.json", ".wrecks.json", ".almanac.txt"} <= set(loaded.context)


def test_sub_agents():
    _, forecaster, archivist = example("sub-agents").agents
    assert forecaster.agent_id == "forecaster"
    assert forecaster.manifest.tools[0].parameters["required"] == ["hour"]
    assert forecaster.config["meta"]["contextFiles"] == ["weather.txt"]
    assert archivist.manifest.tools[0].name == "archivist"
    assert archivist.sub_agent is not None
    assert archivist.sub_agent.shared == ("studio.history-search",)
    assert [one.agent_id for one in archivist.sub_agent.private] == [
        "skarn.archivist.studio.memory-store",
        "skarn.archivist.old-papers",
    ]
    assert archivist.config["meta"]["history"] == "recent:6"
    assert "You are Mara" in archivist.config["promptBody"]


def test_default_state():
    loaded = example("default-state")
    [memory] = loaded.agents
    store = loaded.default_stores["studio.memory-store"]
    played = run_javascript(
        BUILTIN_FOLDER / "studio.memory-store.js",
        [{"function": "onLoad", "arguments": []}],
        store=store,
    )
    assert memory.manifest.preload
    assert played["results"][0].splitlines()[1] == "- mail boat: Tomas brings it on Tuesdays"
