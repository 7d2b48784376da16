"""Manifests in every language: tags, places, and what is not a manifest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.agents.manifest import NO_PARAMETERS, parse_manifest
from personae.package.model import Command, Manifest, Problem
from personae.package.report import Report
from personae.ports import Language

TAGS = """\
@agent park.keeper
@version 1.2.0
@description Keeps the park
  open all year

@tool open_gate
@tool-description Opens a gate
  when a visitor waits
@tool-params {
  "type": "object",
  "properties": {"gate": {"type": "string"}},
  "required": ["gate"]
}
@tool close_all
@command @gate gateCommand
@command note addNote
@preload true
@api studio.history
@api studio.model
@lib dice
@hook afterResponse
@hook afterUserEdit
@debug true
"""

OPENINGS: dict[Language, tuple[str, str]] = {
    "javascript": ("/**\n", "\n*/\nexport const x = 1;\n"),
    "typescript": ("/**\n", "\n*/\nexport const x: number = 1;\n"),
    "python": ('"""\n', '\n"""\nx = 1\n'),
    "lua": ("--[[\n", "\n]]\nlocal x = 1\n"),
}


def read(source: str, language: Language = "javascript") -> tuple[Manifest | None, list[Problem]]:
    report = Report()
    return parse_manifest("agents/a", source, language, report), report.problems


def good(source: str, language: Language = "javascript") -> Manifest:
    manifest, problems = read(source, language)
    assert problems == []
    assert manifest is not None
    return manifest


def js(*lines: str) -> str:
    return "/**\n" + "".join(f" * {line}\n" for line in ("@agent a", *lines)) + " */\n"


def messages(*lines: str) -> list[tuple[str, int | None, str]]:
    return [(one.severity, one.line, one.message) for one in read(js(*lines))[1]]


@pytest.mark.parametrize("language", OPENINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("lead", ["", " * "])
def test_every_tag_in_every_language(language: Language, end: str, lead: str):
    opening, closing = OPENINGS[language]
    body = "".join(f"{lead}{line}\n" for line in TAGS.splitlines())
    manifest = good((opening + body + closing).replace("\n", end), language)
    assert manifest.agent == "park.keeper"
    assert manifest.version == "1.2.0"
    assert manifest.description == "Keeps the park open all year"
    first, second = manifest.tools
    assert (first.name, first.description) == ("open_gate", "Opens a gate when a visitor waits")
    assert first.parameters["properties"] == {"gate": {"type": "string"}}
    assert (second.name, second.description, second.parameters) == ("close_all", "", NO_PARAMETERS)
    assert manifest.commands == (Command("gate", "gateCommand"), Command("note", "addNote"))
    assert manifest.preload and manifest.debug
    assert manifest.apis == {"studio.history", "studio.model"}
    assert manifest.libraries == ("dice",)
    assert manifest.hooks == ("afterResponse", "afterUserEdit")


def test_defaults():
    assert good(js()) == Manifest(agent="a")


@pytest.mark.parametrize(
    ("language", "source"),
    [
        ("javascript", "/** @agent a */"),
        (
            "javascript",
            "\n#!/usr/bin/env node\n// note\n/* licence */\n/** about */\n/** @agent a */",
        ),
        ("javascript", '"use strict";\n/** @agent a */'),
        ("python", "# -*- coding: utf-8 -*-\n\n# note\n'''@agent a'''"),
        ("python", 'r"""\n@agent a\n"""'),
        ("python", "'@agent a'"),
        ("python", '"""\\\n@agent a\n"""'),
        ("lua", "#!/usr/bin/lua\n-- note\n\n--[[ @agent a ]] --[==[ x ]==]"),
    ],
)
def test_what_may_stand_before_a_manifest(language: Language, source: str):
    assert good(source, language).agent == "a"


@pytest.mark.parametrize(
    ("language", "source", "line", "reason"),
    [
        ("javascript", "let x;\n/** @agent a */", 2, "before any code"),
        ("javascript", "/* @agent a */", None, "no manifest"),
        ("javascript", "/** @agent a", 1, "before any code"),
        ("javascript", "/** about */\nexport {}", None, "no manifest"),
        ("javascript", "", None, "no manifest"),
        ("python", "import os\n'''@agent a'''", 2, "before any code"),
        ("python", "f'''@agent a'''", 1, "before any code"),
        ("python", '"""@agent a', 1, "not closed"),
        ("python", "'@agent a\n'", 1, "not closed"),
        ("lua", "-- note\n--[==[ @agent a ]==]", 2, "long-bracket"),
        ("lua", "--[=[ @agent a ]=]", 1, "long-bracket"),
        ("lua", "--[[ @agent a", 1, "not closed"),
        ("lua", "local x\n--[[ @agent a ]]", 2, "before any code"),
        ("lua", "-- @agent a", None, "no manifest"),
        ("python", '"""\n@tool x\n"""', 1, "no @agent"),
    ],
)
def test_what_is_no_manifest(language: Language, source: str, line: int | None, reason: str):
    manifest, problems = read(source, language)
    assert manifest is None
    assert problems[0].severity == "error"
    assert problems[0].line == line
    assert reason in problems[0].message


def test_python_escapes_are_read_as_python_does():
    source = '"""\n@agent a\n@tool t\n@tool-params {"description": "a\\\\nb \\u00e9"}\n"""'
    assert good(source, "python").tools[0].parameters["description"] == "a\nb é"


def test_the_first_of_two_counts():
    manifest, problems = read(js("@agent b", "@tool t", "@tool t", "@command c f", "@command @c g"))
    assert manifest is not None
    assert manifest.agent == "a"
    assert len(manifest.tools) == len(manifest.commands) == 1
    assert [(one.severity, one.line) for one in problems] == [
        ("warning", 3),
        ("warning", 5),
        ("warning", 7),
    ]


@pytest.mark.parametrize(
    ("lines", "line", "reason"),
    [
        (["@tool t", "@tool-params {", '  "type": "object",', "}"], 4, "remove it, on line 5"),
        (["@tool t", '@tool-params {"type":'], 4, "does not close"),
        (["@tool t", "@tool-params {", "@preload true"], 4, "does not close"),
        (["@tool t", "@tool-params"], 4, "missing"),
        (["@tool t", "@tool-params []"], 4, "an object"),
        (["@tool t", '@tool-params {"type": "array"}'], 4, "type is object"),
        (["@tool t", '@tool-params {"type": "objekt"}'], 4, "type is object"),
        (["@tool t", '@tool-params {"properties": {"a": {"type": 1}}}'], 4, "not a JSON Schema"),
        (["@tool t", '@tool-params {"type": "object"}}'], 4, "'}' after the end"),
        (["@tool t", '@tool-params {"default": NaN}'], 4, "NaN"),
        (["@tool"], 3, "name is missing"),
        (["@command @c"], 3, "@command @name"),
        (["@command @ f"], 3, "@command @name"),
        (["@command c 9f"], 3, "name of a function"),
        (["@lib"], 3, "name is missing"),
    ],
)
def test_mistakes_are_errors_with_their_line(lines: list[str], line: int, reason: str):
    [(severity, where, message)] = messages(*lines)
    assert (severity, where) == ("error", line)
    assert reason in message


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["@tool-params {}"], "belongs to no @tool"),
        (["@tool-description x"], "belongs to no @tool"),
        (["@hook onLoad"], "no event"),
        (["@api studio.magic"], "no namespace"),
        (["@api studio.history turns"], "one namespace per line"),
        (["@preload yes"], "neither true nor false"),
        (["@tool-param {}"], "did you mean @tool-params"),
        (["@tool würfeln"], "refused by most models"),
    ],
)
def test_oddities_are_warnings(lines: list[str], reason: str):
    [(severity, line, message)] = messages(*lines)
    assert (severity, line) == ("warning", 3)
    assert reason in message


def test_a_flood_of_tags_is_an_error():
    [(severity, _, message)] = messages(*["@tool-param x"] * 1000)
    assert (severity, message) == ("error", "the manifest has over 1,000 tags")


def test_harmless_lines():
    assert messages("@author Ada", "@api studio.log", "@preload false", "mail me @home") == []


def test_parameters_without_a_type_are_an_object():
    manifest = good(js("@tool t", '@tool-params {"properties": {}}'))
    assert manifest.tools[0].parameters == {"type": "object", "properties": {}}


PIECES = st.sampled_from(
    [
        *("/**", "*/", "@agent a", "@tool t", "@tool-params {", "}", "\n", " ", '"', "'''"),
        *("--[[", "]]", "--[=[", "\\", "#", "//", "\r", "@hook", '"a": 1', "@command @x y", "\0"),
    ]
)


@given(st.lists(PIECES, max_size=30), st.sampled_from(list(OPENINGS)))
@settings(max_examples=300, deadline=None)
def test_anything_is_read_or_reported(pieces: list[str], language: Any):
    manifest, problems = read("".join(pieces), language)
    assert manifest is not None or any(problem.severity == "error" for problem in problems)


def test_sample_character_is_read():
    sample = Path(__file__).parents[2] / "web" / "sample" / "agents"
    for path in sample.glob("*.js"):
        good(path.read_text("utf-8"))
