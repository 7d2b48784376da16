"""What a worker gets beside its runtime: what its agent's source names, or a library of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from personae.package.model import AgentLibrary
from personae.ports import Language
from personae.sandbox.extras import wanted_extras

from tests.sandbox.fakes import program

ROWS: list[tuple[Language, str, tuple[str, ...]]] = [
    ("javascript", "export const a = 1;", ()),
    ("javascript", "new URL(a); btoa(b)", ("url", "base64")),
    ("typescript", "const q: URLSearchParams = x; crypto.randomUUID()", ("url", "crypto")),
    ("javascript", "structuredClone(new TextDecoder())", ("encoding", "clone")),
    ("javascript", "const CURLY = myURLs.atobs", ()),
    ("python", "from zoneinfo import ZoneInfo", ("timezones",)),
    ("python", "import random", ()),
    ("lua", "local URL, zoneinfo = 1, 2", ()),
]


@pytest.mark.parametrize(("language", "source", "expected"), ROWS)
def test_what_the_source_names(language: Language, source: str, expected: tuple[str, ...]) -> None:
    agent = replace(program(), language=language, source=source)
    assert wanted_extras(agent) == expected


def test_what_a_library_names() -> None:
    library = AgentLibrary("a", "agents/lib/a.js", "new URL(b)")
    agent = replace(program(), language="javascript", source="", libraries=(library,))
    assert wanted_extras(agent) == ("url",)
