"""docs/conformance.md names only files and tests that exist, and leaves no cell empty."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOP = ("tests/", "playwright/", "worker/", "server/", "web/", "docs/")


def rows() -> list[list[str]]:
    lines = (ROOT / "docs" / "conformance.md").read_text("utf-8").splitlines()
    tables = [line for line in lines if line.startswith("|") and "---" not in line]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables]
    return [row for row in cells if row[1:] != ["where", "test"]]


def named(text: str) -> list[tuple[Path, str]]:
    """The paths in a cell, each with the test it names."""
    found = []
    for item in re.findall(r"`([^`]+)`", text):
        path, _, test = item.partition("::")
        if "/" in path:
            found.append(
                (ROOT / path if path.startswith(TOP) else ROOT / "web/personae" / path, test)
            )
    return found


def test_every_row_says_what_where_and_how_it_is_shown():
    assert len(rows()) > 100
    for row in rows():
        assert len(row) == 3 and all(row), row
        assert named(row[2]), f"no test: {row}"


def test_every_named_file_and_test_exists():
    for row in rows():
        for path, test in [*named(row[1]), *named(row[2])]:
            assert path.exists(), path
            assert not test or f"def {test}(" in path.read_text("utf-8"), test
