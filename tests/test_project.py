"""What holds for the project as a whole."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CORE = ROOT / "web" / "personae"
CORE_FILES = [
    *CORE.glob("*.py"),
    *(
        path
        for part in ("package", "conversation", "llm", "player")
        for path in (CORE / part).rglob("*.py")
    ),
]
BROWSER_ONLY = {"js", "pyodide", "pyodide_js", "pyscript", "personae_host"}


def imported(path: Path) -> set[str]:
    """Top-level names a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda path: path.relative_to(CORE).as_posix())
def test_the_core_runs_without_a_browser(path: Path) -> None:
    assert not {name.partition(".")[0] for name in imported(path)} & BROWSER_ONLY


@pytest.mark.parametrize("part", ["package", "conversation", "llm", "player"])
def test_the_core_does_not_know_its_adapters_and_views(part: str) -> None:
    # environment=None means the browser's: the one place that names it, when it is asked for.
    allowed = {"personae.browser.environment"}
    for path in (CORE / part).rglob("*.py"):
        outward = {n for n in imported(path) if n.startswith(("personae.browser", "personae.ui"))}
        assert outward <= allowed, path


def test_the_changelog_starts_with_the_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest
    assert newest[1] == version


def test_links_in_the_documents_lead_somewhere() -> None:
    for document in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
