"""``docs/reliability.md`` names tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = re.findall(r"`([\w/.]+\.py)::(\w+)`", (ROOT / "docs" / "reliability.md").read_text())


def test_every_promise_names_its_test() -> None:
    rows = [
        line
        for line in (ROOT / "docs" / "reliability.md").read_text().splitlines()
        if line.startswith("| ") and not line.endswith("Shown by |")
    ]
    assert len(rows) == len(NAMED) > 30


@pytest.mark.parametrize("path", sorted({path for path, _ in NAMED}))
def test_the_named_tests_exist(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text())
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    there = {node.name for node in ast.walk(tree) if isinstance(node, functions)}
    assert {name for file, name in NAMED if file == path} <= there
