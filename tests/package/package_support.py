"""Builds packages for these tests: mappings, zip files, and zip files with one thing wrong."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import pytest
from personae.errors import PackageError
from personae.package.model import Package, Problem
from personae.package.report import SHOWN

from tests.package.support import load_package

Files = dict[str, bytes]

GREETER = """\
/**
 * @agent park.greeter
 * @description Greets visitors
 * @tool greet
 * @tool-description Greets somebody by name
 * @tool-params {"type":"object","properties":{"who":{"type":"string"}},"required":["who"]}
 */
export const onToolCall = (tool, args) => `Hello ${args.who}`;
"""


def agent(agent_id: str, *tags: str, body: str = "") -> str:
    """A JavaScript agent with the given tag lines."""
    lines = "".join(f" * {tag}\n" for tag in (f"@agent {agent_id}", *tags))
    return f"/**\n{lines} */\n{body}"


def package(config: Any = None, **texts: str) -> Files:
    """A small package; ``texts`` adds or replaces files, ``/`` in their names as ``__``."""
    files = {"config.json": json.dumps({"name": "Ada"} if config is None else config)}
    files["instructions.txt"] = "You keep the park."
    files.update({name.replace("__", "/"): text for name, text in texts.items()})
    return {name: text.encode() for name, text in files.items()}


def with_files(files: Files, more: Mapping[str, str | bytes]) -> Files:
    encoded = {
        name: data.encode() if isinstance(data, str) else data for name, data in more.items()
    }
    return {**files, **encoded}


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data, method)
    return buffer.getvalue()


def problems_of(source: bytes | Mapping[str, bytes]) -> list[Problem]:
    """Why a package does not load; fails when it does."""
    with pytest.raises(PackageError) as caught:
        load_package(source)
    assert caught.value.code == "package_invalid"
    problems = [Problem(**fields) for fields in caught.value.detail["problems"]]
    for problem in [one for one in problems if one.severity == "error"][:SHOWN]:
        assert problem.message in caught.value.message
    return problems


def only_problem(source: bytes | Mapping[str, bytes]) -> Problem:
    [problem] = [one for one in problems_of(source) if one.severity == "error"]
    return problem


def warnings_of(loaded: Package) -> list[str]:
    return [problem.message for problem in loaded.warnings]
