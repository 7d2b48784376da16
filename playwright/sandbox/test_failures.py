"""Modules that cannot be loaded: the author is told the type, the file and the line."""

from __future__ import annotations

from typing import Any

import pytest

# Language, source, type, line, what the message says.
MODULES = [
    ("javascript", "const a = 1;\nexport let b = {;\n", "SyntaxError", 2, "invalid property name"),
    ("typescript", "const a: number = 1;\n\nlet b: = 2;\n", "SyntaxError", 3, "Unexpected token"),
    ("python", "a = 1\n\n\ndef b(:\n", "SyntaxError", 4, "invalid syntax"),
    ("lua", "local a = 1\nlocal b = = 2\n", "syntax error", 2, "unexpected symbol near '='"),
    ("javascript", "let a;\n\nsurely(a);\n", "ReferenceError", 3, "surely is not defined"),
    ("typescript", "let a: string;\n\nsurely(a);\n", "ReferenceError", 3, "surely is not defined"),
    ("python", "import datetime\n\nsurely(1)\n", "NameError", 3, "name 'surely' is not defined"),
    ("lua", "local a\n\nsurely(a)\n", "error", 3, "attempt to call a nil value (global 'surely')"),
    ("javascript", 'import x from "left-pad";\n', "Error", None, "cannot import left-pad"),
    ("python", "\nimport numpy\n", "ModuleNotFoundError", 2, "No module named 'numpy'"),
    ("lua", "coroutine.yield()\n", "error", 1, "its top level yields"),
]


@pytest.mark.parametrize(("language", "source", "type_", "line", "message"), MODULES)
def test_what_is_wrong_with_a_module(
    drive: Any, language: str, source: str, type_: str, line: int | None, message: str
) -> None:
    path = f"agents/broken thing.{language}"
    answer = drive("load", {"id": "broken", "language": language, "path": path, "source": source})
    detail = answer["detail"]
    assert answer["code"] == "agent_load_failed"
    assert message in answer["message"] and path in answer["message"]
    assert (detail["type"], detail["file"], detail["line"]) == (type_, path, line)
    assert answer["message"].startswith("Agent “broken” could not be loaded")
    assert path in detail["told"] and message in detail["told"]
    drive("close", {"id": "broken"})


def test_a_broken_library_is_named_not_the_agent(drive: Any) -> None:
    spec = {"id": "broken", "language": "javascript", "source": "export const a = () => 1;"}
    answer = drive("load", {**spec, "libraries": {"dice": "var a = 1;\nvar b = = 2;\n"}})
    detail = answer["detail"]
    assert (detail["type"], detail["file"]) == ("SyntaxError", "agents/lib/dice.js")
    assert detail["line"] == 2
    drive("close", {"id": "broken"})


def test_a_stack_quotes_the_lines_of_python_agents_and_names_causes(drive: Any) -> None:
    source = (
        "def run():\n    try:\n        return {}['a']\n    except KeyError as error:\n"
        "        raise RuntimeError('no luck') from error\n"
    )
    stack = stack_of(drive, "python", source)
    assert "    return {}['a']" in stack and "raise RuntimeError('no luck') from error" in stack
    assert "direct cause" in stack and "personae_agent" not in stack


def test_a_stack_names_causes_in_javascript(drive: Any) -> None:
    source = (
        "export function run() {\n  throw new Error('no luck', "
        "{ cause: new TypeError('a draught') });\n}\n"
    )
    stack = stack_of(drive, "javascript", source)
    assert stack.startswith("Error: no luck\n") and "Caused by TypeError: a draught\n" in stack


def stack_of(drive: Any, language: str, source: str) -> str:
    spec = {"id": "stacks", "language": language, "path": "agents/stacks", "source": source}
    assert drive("load", {**spec, "handlers": ["run"]})["exports"] == ["run"]
    answer = drive("call", {"id": "stacks", "function": "run", "verbatim": True})
    drive("close", {"id": "stacks"})
    stack: str = answer["detail"]["stack"]
    return stack
