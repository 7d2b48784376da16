"""``make lock``: writes the locks of ``requirements/`` anew, from what pyproject.toml asks for.

A lock names one version of every package with the hashes of all its files, for every Python
that is supported and for every platform (markers tell them apart). All locks agree: they are
resolved within the largest. None names an index, so that whoever has a mirror uses that.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle.paths import ROOT

LOCKS = ROOT / "requirements"
LARGEST = LOCKS / "test.lock"
TOOLS = LOCKS / "tools.in"
PROJECT = ROOT / "pyproject.toml"


def main() -> None:
    project = tomllib.loads(PROJECT.read_text("utf-8"))
    needed = "\n".join(project["build-system"]["requires"])
    oldest = project["project"]["requires-python"].removeprefix(">=")
    within = ("--constraint", str(LARGEST))
    compile_lock("test", oldest, str(PROJECT), "--extra=test", "-", requirements=needed)
    compile_lock("build", oldest, "-", *within, requirements=needed)
    compile_lock("server", oldest, str(PROJECT), "--extra=reader", "--extra=redis", *within)
    compile_lock("tools", oldest, str(TOOLS), *within)


def compile_lock(name: str, oldest: str, *sources: str, requirements: str = "") -> None:
    """Writes ``<name>.lock`` for what ``sources`` ask for; ``-`` among them is ``requirements``."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--upgrade", "--universal"]
    command += [f"--python-version={oldest}", "--generate-hashes", "--no-annotate"]
    command += ["--no-emit-index-url", "--custom-compile-command=make lock"]
    options: dict[str, Any] = {"input": requirements, "text": True, "cwd": ROOT, "check": True}
    subprocess.run([*command, *sources, f"--output-file={LOCKS / name}.lock"], **options)  # noqa: S603
    print(f"{name}.lock: {len(pins(LOCKS / f'{name}.lock'))} packages")


@dataclass(frozen=True, slots=True)
class Pin:
    """One entry of a lock."""

    name: str
    version: str
    marker: str
    """Where it is needed, as PEP 508 says it; empty: everywhere."""
    hashes: tuple[str, ...]
    """SHA-256 of every file it may come as."""


def pins(lock: Path) -> list[Pin]:
    """What a lock (or ``bundle/requirements.txt``) holds. Raises ValueError for other lines."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text("utf-8"), flags=re.MULTILINE)
    return [_pin(line) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def _pin(line: str) -> Pin:
    wanted, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
    found = re.fullmatch(r"([A-Za-z0-9._-]+)==([^\s;]+)(?:\s*;\s*(.+))?", wanted)
    if not found or not all(re.fullmatch("[0-9a-f]{64}", each) for each in hashes):
        raise ValueError(f"a lock pins versions by hashes; this is neither: {line[:80]!r}")
    return Pin(found[1], found[2], found[3] or "", tuple(hashes))


if __name__ == "__main__":
    main()
