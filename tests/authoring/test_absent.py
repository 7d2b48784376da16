"""What agents' sandboxes have not, named with its line; and what is the agent's own business."""

from __future__ import annotations

import pytest
from personae.authoring.absent import warn_of_absent
from personae.package.model import AgentLibrary, AgentProgram, Manifest
from personae.package.report import Report
from personae.ports import Language


def warned(language: Language, source: str, *libraries: str) -> list[tuple[int | None, str]]:
    program = AgentProgram(
        agent_id="a",
        path="agents/a",
        language=language,
        source=source,
        manifest=Manifest(agent="a", apis=frozenset()),
        libraries=tuple(AgentLibrary("lib", "agents/lib/lib.js", one) for one in libraries),
    )
    report = Report()
    warn_of_absent(program, report)
    assert {one.file for one in report.warnings} <= {"agents/a"}
    return [(one.line, one.message) for one in report.warnings]


# Language, source, the line that is warned of, a part of the message.
WARNED: list[tuple[Language, str, int, str]] = [
    ("javascript", "let n;\nn = new Intl.NumberFormat('de');", 2, "have no Intl"),
    ("typescript", "const a: number = 1;\na.toLocaleString('de-DE');", 2, "toLocaleString ignores"),
    (
        "javascript",
        "new Date(0).toLocaleDateString(\n  undefined, {timeZone: 'UTC'})",
        1,
        "ignores",
    ),
    ("javascript", "names.sort((a, b) => a.localeCompare(b, 'de'));", 1, "localeCompare ignores"),
    ("javascript", "'i'.toLocaleUpperCase('tr')", 1, "toLocaleUpperCase ignores"),
    ("javascript", "/* one */\nawait fetch('https://a.b')", 2, "studio.web.fetch"),
    ("javascript", "const x = `\n`;\nlocalStorage.setItem('a', x)", 3, "have no localStorage"),
    ("javascript", "import _ from 'lodash';", 1, "cannot import"),
    ("javascript", "import 'lodash';", 1, "cannot import"),
    ("javascript", "const x = await import('lodash');", 1, "cannot import"),
    ("javascript", "const fs = require('fs');", 1, "have no require"),
    ("javascript", "const quote = /'/;\nnew Worker('a.js')", 2, "have no Worker"),
    ("javascript", "const half = a / 2; // it's\nBuffer.from('a')", 2, "have no Buffer"),
    ("javascript", "await crypto.subtle.digest('SHA-256', b)", 1, "crypto.subtle"),
    ("python", "import json\nimport numpy as np", 2, "no packages"),
    ("python", "def f():\n    from requests import get", 2, "cannot import requests"),
    ("python", "import js", 1, "cannot import js"),
    ("python", "from urllib import request", 1, "no network"),
    ("python", "import urllib.request", 1, "no network"),
    ("python", "import threading", 1, "one thread"),
    ("python", "import tkinter", 1, "built without it"),
    ("python", "import locale\nlocale.setlocale(locale.LC_ALL, 'de_DE')", 2, "setlocale"),
    ("lua", "--[[ one\n]]\nlocal f = io.open('a')", 3, "have no io"),
    ("lua", "local json = require('json')", 1, "have no require"),
    ("lua", "local f = load('return 1')", 1, "have no load"),
    ("lua", "print(unpack({ 1 }))", 1, "Lua 5.4"),
    ("lua", "local home = os.getenv('HOME')", 1, "have no os.getenv"),
    ("lua", "math.randomseed(os.time())", 1, "same dice"),
    ("lua", "math.randomseed(tonumber(os.time()))", 1, "same dice"),
]


@pytest.mark.parametrize(("language", "source", "line", "message"), WARNED)
def test_what_is_absent(language: Language, source: str, line: int, message: str) -> None:
    ((found, text),) = warned(language, source)
    assert found == line and message in text


SPARED: list[tuple[Language, str]] = [
    ("javascript", "if (typeof Intl !== 'undefined') Intl.NumberFormat('de');"),
    ("javascript", "// fetch('a')\n/* Intl.x */ const a = 'fetch(1)' + `Intl ${1}`;"),
    ("javascript", "await studio.web.fetch('https://a.b');"),
    ("javascript", "function fetch(a) { return a; }\nfetch(1);"),
    ("javascript", "const show = (window, document) => window + document;"),
    ("javascript", "const { location } = args; use(location);"),
    ("javascript", "store.location = { process: 1, prompt() { return 2; } };"),
    ("javascript", "(1).toLocaleString(); a.localeCompare(b); a.localeCompare(f(b, c));"),
    ("javascript", "new URL('a:b'); btoa('a'); crypto.randomUUID(); structuredClone({});"),
    ("typescript", "import type { A } from './types';\nconst a: A = 1;"),
    ("python", "import zoneinfo, asyncio, random\nfrom collections.abc import Mapping"),
    ("python", "from urllib.parse import quote\nimport xml.etree.ElementTree"),
    ("python", "try:\n    import numpy\nexcept ImportError:\n    numpy = None"),
    ("python", "# import numpy\n'import numpy'"),
    ("python", "this is no Python"),
    ("lua", "local s = 'io.open' -- require 'x'\nlocal t = [[ load() ]]"),
    ("lua", "local unpack = table.unpack\nprint(unpack({ 1 }))"),
    ("lua", "local function load(a) return a end\nreturn load(1)"),
    ("lua", "local t = { load = 1 }\nt.load = 2\nlocal s = t:load()"),
    ("lua", "math.randomseed(42)\nmath.randomseed()"),
    ("lua", "local when = os.time() .. os.date('%Y')"),
]


@pytest.mark.parametrize(("language", "source"), SPARED)
def test_what_is_there_or_the_agents_own(language: Language, source: str) -> None:
    assert warned(language, source) == []


def test_what_an_agent_library_brings_is_there() -> None:
    assert warned("javascript", "new Intl.NumberFormat('de')", "global.Intl = {}") == []
