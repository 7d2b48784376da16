"""``make audit``: asks the registries for known vulnerabilities in everything that is locked.

pip-audit asks for the Python locks, npm for the packages of the page. Exit code 1: there are
vulnerabilities; 2: somebody could not be asked, so that nothing is known of those packages. A
silent registry never counts as good news.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bundle.lock import LOCKS, pins
from bundle.node import npm
from bundle.paths import ROOT, WORKER
from bundle.wheels import REQUIREMENTS

VULNERABLE, NOT_ASKED = 1, 2


@dataclass(frozen=True, slots=True)
class Answer:
    """What is known of the packages of one lock."""

    lock: str
    asked: int
    """Packages that were looked up."""
    found: tuple[str, ...] = ()
    """A line for each vulnerability."""
    not_asked: str = ""
    """Why some or all packages were not looked up."""


def main() -> int:
    locks = [*sorted(LOCKS.glob("*.lock")), REQUIREMENTS]
    return verdict([*map(ask_python, locks), ask_npm()])


def ask_python(lock: Path) -> Answer:
    command = [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off"]
    command += ["--require-hashes", "--disable-pip", f"--requirement={lock}"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)  # noqa: S603
    name = lock.relative_to(ROOT).as_posix()
    return read_python(name, len(pins(lock)), done.stdout, done.stderr)


def read_python(name: str, packages: int, output: str, errors: str) -> Answer:
    """pip-audit succeeds with packages that it skipped, as when an index knows no advisories."""
    told = _object(output).get("dependencies")
    if not isinstance(told, list):
        return Answer(name, 0, not_asked=_last_line(errors) or "pip-audit gave no answer")
    asked = [each for each in told if "skip_reason" not in each]
    found = tuple(
        f"{each['name']} {each['version']}: {fault['id']}{_mended(fault.get('fix_versions'))}"
        for each in asked
        for fault in each["vulns"]
    )
    skipped = [each for each in told if "skip_reason" in each]
    reason = f"{len(skipped)} skipped: {skipped[0]['skip_reason']}" if skipped else ""
    if not told and packages:
        reason = "pip-audit looked at nothing"
    return Answer(name, len(asked), found, reason)


def ask_npm() -> Answer:
    done = npm("audit", "--json", "--package-lock-only", cwd=WORKER)
    return read_npm("worker/package-lock.json", done.stdout, done.stderr)


def read_npm(name: str, output: str, errors: str) -> Answer:
    told = _object(output)
    if not isinstance(told.get("vulnerabilities"), dict):
        return Answer(name, 0, not_asked=str(told.get("message") or _last_line(errors)))
    found = tuple(
        f"{package} {fault.get('range')}: {fault.get('severity')}"
        for package, fault in told["vulnerabilities"].items()
    )
    return Answer(name, told["metadata"]["dependencies"]["total"], found)


def verdict(answers: list[Answer]) -> int:
    """Prints what is known; the exit code."""
    for answer in answers:
        print(f"{answer.lock}: {answer.asked} packages asked, {len(answer.found)} vulnerabilities")
        for line in answer.found:
            print(f"  {line}")
        if answer.not_asked:
            print(f"  NOT AUDITED: {answer.not_asked}")
    if any(answer.found for answer in answers):
        print("Known vulnerabilities: `make lock`, or raise the versions in worker/package.json.")
        return VULNERABLE
    if any(answer.not_asked for answer in answers):
        print("Not audited: nothing is known of some packages. Ask again where registries answer.")
        return NOT_ASKED
    print("No known vulnerabilities.")
    return 0


def _object(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


def _mended(versions: Any) -> str:
    return f" (mended in {', '.join(versions)})" if versions else ""


if __name__ == "__main__":
    sys.exit(main())
