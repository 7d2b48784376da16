"""What ``make check`` and ``make test`` run.

The first runs the checks and the tests on CPython, the second also those in real browsers.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

from bundle.node import node
from bundle.paths import MODULES, ROOT, WEB, WORKER

TSC = MODULES / "typescript" / "bin" / "tsc"
PRETTIER = MODULES / "prettier" / "bin" / "prettier.cjs"
# What prettier keeps in shape.
FORMATTED = ("web/**/*.{js,mjs,ts}", "worker/*.mjs", "worker/src/**/*.ts", "bundle/*.mjs")
# The page, its service worker, agents, the sandbox: what runs in each knows other globals.
TYPED = (
    WEB / "tsconfig.json",
    WEB / "tsconfig.offline.json",
    WEB / "tsconfig.agents.json",
    WORKER / "tsconfig.json",
)

# Debian packages the browser tests need, each with the program that shows it is there.
DEBIAN = {"chromium": "chromium", "firefox-esr": "firefox-esr", "nginx-light": "nginx"}

# A browser for each processor, as far as the memory of a usual machine goes.
BROWSERS = ("-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "--no-loadscope-reorder")


def main(arguments: Sequence[str]) -> None:
    browsers = "check" not in arguments
    if browsers:
        install_programs()
    check()
    if browsers:
        python_step("pytest", "playwright", *BROWSERS)


def check() -> None:
    python_step("ruff", "check", ".")
    python_step("ruff", "format", "--check", ".")
    python_step("mypy")
    step("prettier", lambda: node(PRETTIER, "--check", "--log-level=warn", *FORMATTED))
    for project in TYPED:
        title = f"tsc -p {project.relative_to(ROOT)}"
        step(title, partial(node, TSC, "--noEmit", "-p", project))
    python_step("pytest", "tests", "-n", "auto", "--dist", "loadfile")


def install_programs() -> None:
    """Installs what is missing where we may; elsewhere Playwright brings its own Chromium."""
    missing = [package for package, program in DEBIAN.items() if not shutil.which(program)]
    if os.environ.get("CHROMIUM") and "chromium" in missing:
        missing.remove("chromium")
    if missing and shutil.which("apt-get") and os.geteuid() == 0:
        run("apt-get", "update", "-qq")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing)
    elif "chromium" in missing:
        run(sys.executable, "-m", "playwright", "install", "chromium")


def python_step(module: str, *arguments: str) -> None:
    step(f"{module} {' '.join(arguments)}", lambda: run(sys.executable, "-m", module, *arguments))


def step(title: str, action: Callable[[], None]) -> None:
    started = time.monotonic()
    print(f"== {title}", flush=True)
    try:
        action()
    except subprocess.CalledProcessError as error:
        sys.exit(f"== {title}: failed with exit code {error.returncode}")
    print(f"== {title}: {time.monotonic() - started:.0f} s", flush=True)


def run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603


if __name__ == "__main__":
    main(sys.argv[1:])
