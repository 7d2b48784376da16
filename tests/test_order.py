"""Imports go inwards only, wherever in a module they stand (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

CORE = Path(__file__).parent.parent / "web" / "personae"

ORDER = (
    "package",
    "conversation",
    "llm",
    "sandbox",
    "storage",
    "tools",
    "turn",
    "player",
    "authoring",
    "browser",
    "ui",
)
"""From the innermost folder to the outermost; what lies beside them is for all of them."""

COMPOSED = {("player/character_player.py", "browser"), ("__init__.py", "player")}
"""``environment=None`` means the browser's, and ``personae.CharacterPlayer`` loads the player."""

BROWSER_ONLY = {"js", "pyodide", "pyodide_js", "pyscript", "personae_host"}
MOST_MODULES = 16


def modules() -> list[str]:
    return sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.py"))


def imported(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((CORE / module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def place(folder: str) -> int:
    return ORDER.index(folder) if folder in ORDER else -1


def folder(module: str) -> str:
    return module.partition("/")[0]


@pytest.mark.parametrize("module", modules())
def test_a_module_imports_only_what_lies_further_in(module: str) -> None:
    for name in imported(module):
        package, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if package == "personae" and (module, target) not in COMPOSED:
            assert place(target) <= place(folder(module)), f"{module} imports {name}"
        assert package not in BROWSER_ONLY or folder(module) in ("browser", "ui"), name


def test_every_folder_has_its_place() -> None:
    folders = {path.name for path in CORE.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(ORDER)


def test_no_module_waits_for_one_that_waits_for_it() -> None:
    """No circle, also none that is hidden from the interpreter or put off to a call."""
    known = {f"personae.{m[:-3].replace('/', '.')}": m for m in modules()}
    edges = {m: {known[n] for name in imported(m) for n in _named(name, known)} for m in modules()}
    edges = {m: {t for t in to if (m, folder(t)) not in COMPOSED} for m, to in edges.items()}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module not in done:
            for target in sorted(edges[module]):
                visit(target, (*path, module))
            done.add(module)

    for module in edges:
        visit(module, ())


def _named(name: str, known: dict[str, str]) -> list[str]:
    """The module that an imported name is, or is of."""
    return [n for n in (name, name.rpartition(".")[0]) if n in known][:1]


def test_no_folder_is_a_drawer() -> None:
    for path in (CORE, *(path for path in CORE.rglob("*") if path.is_dir())):
        count = sum(file.name != "__init__.py" for file in path.glob("*.py"))
        assert count <= MOST_MODULES, f"{path.name} has {count} modules"
