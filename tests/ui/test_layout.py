"""How the app is laid out: views get what they need, and know neither the app nor the tables."""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

WEB = Path(__file__).parents[2] / "web"
UI = WEB / "personae" / "ui"
FILES = sorted(UI.rglob("*.py"))
STORED = {"Put", "Delete", "Key", "Record", "Storage", "Table"}
"""What of the ports names tables and records."""


def module(path: Path) -> str:
    name = ".".join(path.relative_to(WEB).with_suffix("").parts)
    return name.removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    """``module.name`` of all that a module imports, wherever in it."""
    return {
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_no_two_modules_need_each_other() -> None:
    modules = {module(path): imports(path) for path in FILES}
    graph = {
        name: {other for other in modules for found in names if found.startswith(f"{other}.")}
        - {"personae.ui"}
        for name, names in modules.items()
    }
    assert len(graph["personae.ui.app"]) > 10
    TopologicalSorter(graph).prepare()  # raises CycleError


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(UI).as_posix())
def test_nothing_is_imported_for_the_type_checker_alone(path: Path) -> None:
    assert "TYPE_CHECKING" not in path.read_text("utf-8")


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if path.parent.name != "settings"],
    ids=lambda path: path.relative_to(UI).as_posix(),
)
def test_no_view_knows_the_tables(path: Path) -> None:
    assert not {f"personae.ports.{name}" for name in STORED} & imports(path)


@pytest.mark.parametrize("path", sorted((WEB / "styles").glob("*.css")), ids=lambda path: path.name)
def test_no_rule_waits_for_an_element_below_to_be_filled(path: Path) -> None:
    """WebKit does not look again at ``:has(:empty)`` when the element gets its text."""
    assert not re.search(r":has\((?:[^()]|\([^()]*\))*:empty", path.read_text("utf-8"))
