"""``web/types/python.d.ts``, which JavaScript is checked against, says what Python does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

WEB = Path(__file__).parent.parent / "web"
DECLARED = (WEB / "types" / "python.d.ts").read_text("utf-8")
EMBED = ast.parse((WEB / "personae" / "browser" / "embed.py").read_text("utf-8"))


def members(interface: str) -> set[str]:
    """The names that an interface declares."""
    body = re.search(rf"interface {interface} \{{\n(.*?)^\}}", DECLARED, re.DOTALL | re.MULTILINE)
    assert body
    return set(re.findall(r"^  (?:readonly )?(\w+)[?(:]", body[1], re.MULTILINE))


def texts(union: str) -> set[str]:
    """The texts that a type is made of."""
    body = re.search(rf"type {union} =(.*?);", DECLARED, re.DOTALL)
    assert body
    return set(re.findall(r'"(\w+)"', body[1]))


def constant(name: str) -> Any:
    """A module constant of the embedders' face, which CPython cannot import."""
    (value,) = (
        node.value
        for node in EMBED.body
        if isinstance(node, ast.Assign) and [ast.unparse(each) for each in node.targets] == [name]
    )
    return eval(ast.unparse(value))


def used_of_host() -> Iterator[str]:
    for path in (WEB / "personae").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "personae_host":
                yield node.attr


def test_what_python_asks_of_its_host_is_declared() -> None:
    used = set(used_of_host())
    assert {"openStorage", "tryLock"} <= used <= members("Host")


@pytest.mark.parametrize(
    ("union", "name"), [("Call", "CALLS"), ("CallNow", "CALLS_NOW")], ids=["later", "at once"]
)
def test_what_embedders_may_call_is_declared(union: str, name: str) -> None:
    assert texts(union) == set(constant(name))


def test_what_embedders_hear_and_may_set_is_declared() -> None:
    assert members("Emissions") == set(constant("EVENTS"))
    assert members("Options") == {"package", "storage", *constant("_OPTIONS")}
