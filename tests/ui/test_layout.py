"""What of the app can be told from its files: who knows the tables, and what styles rely on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
CORE = WEB / "personae"
STORED = {"Put", "Delete", "Query"}
"""What names a table."""
ADAPTERS = {"browser/storage.py", "browser/memory_storage.py"}


def named(path: Path) -> str:
    return path.relative_to(CORE).as_posix()


def taken_of_ports(path: Path) -> set[str]:
    return {
        alias.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "personae.ports"
        for alias in node.names
    }


def test_tables_are_read_and_written_in_storage_alone() -> None:
    outside = {
        named(path)
        for path in CORE.rglob("*.py")
        if taken_of_ports(path) & STORED and not named(path).startswith("storage/")
    }
    assert outside == ADAPTERS


@pytest.mark.parametrize("path", sorted((WEB / "styles").glob("*.css")), ids=lambda path: path.name)
def test_no_rule_waits_for_an_element_below_to_be_filled(path: Path) -> None:
    """WebKit does not look again at ``:has(:empty)`` when the element gets its text."""
    assert not re.search(r":has\((?:[^()]|\([^()]*\))*:empty", path.read_text("utf-8"))
