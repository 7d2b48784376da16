"""Request assembly: what is sent, in which order, and what never is."""

from __future__ import annotations

import pytest
from personae.conversation.entries import Entry, ToolCall
from personae.llm.request.encoded import spread
from personae.turn.request import assembly
from personae.turn.request.assembly import CONTEXT_PREFIX, context_block, system_prompt
from personae.turn.request.perspective import Perspective

from tests.player.support import package


def entry(role, content="", **fields):
    return Entry(id="e", role=role, content=content, at=0, **fields)


def heard(entries):
    return Perspective(lambda: entries).history("here")


def assemble(character, preload, entries):
    return list(spread(assembly.assemble(character, preload, heard(entries))))


CALL = ToolCall("c1", "roll", '{"sides":6}', 1)
SENT_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "roll", "arguments": '{"sides":6}'},
}
RESULT = entry("tool", "four", tool_call_id="c1", number=1, agent_id="a.dice")


def test_everything_in_its_order():
    character = package(intro="Welcome.", context={"b.txt": "B", "a.txt": "A"})
    messages = assemble(character, ["memory", "stats"], [entry("user", "Hi")])
    assert messages == [
        {"role": "system", "content": "You play a role. You are Ada."},
        {"role": "user", "content": f"{CONTEXT_PREFIX}\n\nA\n\nB", "isFile": True},
        {"role": "user", "content": "memory\n\nstats", "isFile": True},
        {"role": "assistant", "content": "Welcome."},
        {"role": "user", "content": "Hi"},
    ]


def test_what_is_empty_is_left_out():
    bare = package(system_prompt="", instructions="", intro=" \n")
    assert assemble(bare, ["", ""], [entry("user", "Hi")]) == [{"role": "user", "content": "Hi"}]


@pytest.mark.parametrize(
    ("template", "instructions", "prompt"),
    [
        ("", "You are Ada.", "You are Ada."),
        (" \n", "You are Ada.", "You are Ada."),
        ("No macro.", "You are Ada.", "No macro."),
        ("%%CHARACTER_INSTRUCTIONS%% and %%CHARACTER_INSTRUCTIONS%%", "Ada", "Ada and Ada"),
        (
            "<%%CHARACTER_INSTRUCTIONS%%>",
            "%%CHARACTER_INSTRUCTIONS%%!",
            "<%%CHARACTER_INSTRUCTIONS%%!>",
        ),
        ("%%OTHER%% %%CHARACTER_INSTRUCTIONS%%", "Ada", "%%OTHER%% Ada"),
        ("\\1 %%CHARACTER_INSTRUCTIONS%%", "\\g<0>", "\\1 \\g<0>"),
    ],
)
def test_the_system_prompt_macro(template, instructions, prompt):
    character = package(system_prompt=template, instructions=instructions)
    assert system_prompt(character) == prompt


@pytest.mark.parametrize(
    ("files", "parts"),
    [
        ({}, []),
        ({".cars.json": "{}", ".git/x.txt": "x", "sub/.hidden": "h"}, []),
        ({"z.txt": "Z", "sub/a.txt": "A", "b.md": "B\r\n"}, ["B\r\n", "A", "Z"]),
    ],
)
def test_context_files_sorted_by_path_without_dot_files(files, parts):
    expected = "\n\n".join([CONTEXT_PREFIX, *parts]) if parts else ""
    assert context_block(package(context=files)) == expected


def said(role, content):
    return {"role": role, "content": content}


ROUND = entry("assistant", "let me", tool_calls=(CALL,), reasoning_fields={"reasoning": "hm"})
SENT_ROUND = {**said("assistant", "let me"), "tool_calls": [SENT_CALL], "reasoning": "hm"}
SENT_RESULT = {"role": "tool", "tool_call_id": "c1", "content": "four"}


@pytest.mark.parametrize(
    ("entries", "messages"),
    [
        ([], []),
        (
            [entry("user", "u"), ROUND, entry("log", "audit"), RESULT],
            [said("user", "u"), SENT_ROUND, SENT_RESULT],
        ),
        (
            [entry("user", "u"), ROUND, RESULT, entry("assistant", "4!"), entry("user", "v")],
            [
                said("user", "u"),
                said("assistant", "let me"),
                said("assistant", "4!"),
                said("user", "v"),
            ],
        ),
        (
            [
                entry("user", "u"),
                entry("assistant", "", tool_calls=(CALL,)),
                RESULT,
                entry("user", "v"),
            ],
            [said("user", "u"), said("user", "v")],
        ),
        (
            [
                entry("user", "u"),
                entry("assistant", "bad", rejected=True),
                entry("assistant", "", tool_calls=(CALL,), rejected=True),
                RESULT.with_(rejected=True),
                entry("assistant", "good"),
            ],
            [said("user", "u"), said("assistant", "good")],
        ),
        (
            [entry("user", "u"), entry("assistant", "", stopped=True), entry("user", "v")],
            [said("user", "u"), said("user", "v")],
        ),
        (
            [entry("user", "u"), entry("assistant", "half", stopped=True), entry("user", "v")],
            [said("user", "u"), said("assistant", "half"), said("user", "v")],
        ),
        (
            [entry("user", "u"), entry("assistant", "text", reasoning="secret thought")],
            [said("user", "u"), said("assistant", "text")],
        ),
        ([entry("log", "l"), entry("assistant", "a")], [said("assistant", "a")]),
    ],
)
def test_history(entries, messages):
    assert list(spread(heard(entries))) == messages
