"""Agents in their sandboxes, per language, beside the bare runtimes and a bare message.

Start: ``first`` has a frame of its own and compiles the runtime, ``next`` is a further worker of
the language, ``eight`` are eight of those at once; ``bare`` is the runtime in a plain worker with
nothing around it. Calls: an empty one, and ones with a store that the agent does not look at
(``unseen``), looks at, or changes. ``bare``, taken in turn with each, is an empty call's own text,
sent by the same code to a worker in the same kind of frame that sends it straight back: the same
bytes and hops.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness import BENCH, Case, Target, chromium, interleave, options, report
from playwright.sync_api import Page

sys.path.insert(0, str(BENCH.parent / "sandbox"))
import serving

LANGUAGES = ("javascript", "typescript", "lua", "python")
SIZES = {"1 KB": 1_000, "1 MB": 1_000_000}


def main() -> None:
    chosen = options(__doc__.splitlines()[0], rounds=7)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        site = Path(folder)
        serving.build(site, BENCH / "pages" / "sandbox_driver.py")
        bundle_bare(site / "bare.js")
        (site / "plain").symlink_to(serving.MODULES / "pyodide")  # as its package is
        serving.write_frame(site, BENCH / "pages" / "echo.js")
        with serving.served(site) as origin:
            page = browser.new_page()
            page.goto(origin)
            drive(page, "prepare", languages=LANGUAGES)
            cases = {
                name: case
                for name, case in all_cases(page).items()
                if not chosen.only or chosen.only in name
            }
            results = interleave(cases, chosen.rounds)
    report("sandbox", results, targets(), keep=chosen.keep and not chosen.only)


def bundle_bare(target: Path) -> None:
    command = [serving.NODE, str(serving.MODULES / "esbuild" / "bin" / "esbuild")]
    flags = ["--bundle", "--format=esm", "--minify", "--log-level=error"]
    nodes_own = ["--external:url", "--external:module"]
    files = [str(BENCH / "pages" / "bare.mjs"), f"--outfile={target}"]
    environment = {**os.environ, "NODE_PATH": str(serving.MODULES)}
    subprocess.run([*command, *files, *flags, *nodes_own], env=environment, check=True)


def drive(page: Page, run: str, **value: Any) -> dict[str, float]:
    text = page.evaluate("([name, text]) => drive(name, text)", [run, json.dumps(value)])
    figures: dict[str, float] = json.loads(text)
    return figures


def all_cases(page: Page) -> dict[str, Case]:
    def case(run: str, **value: Any) -> Case:
        return lambda: drive(page, run, **value)

    cases: dict[str, Case] = {}
    for language in LANGUAGES:
        runtime = "javascript" if language == "typescript" else language
        cases[f"bare {language} start"] = case("bare_start", language=runtime, together=1)
        cases[f"{language} first start"] = case("first_start", language=language)
        cases[f"{language} next start"] = case("next_start", language=language, together=1)
        for name, size in SIZES.items():
            for label, function in (("unseen", "empty"), ("seen", "look"), ("changed", "change")):
                times = 10 if function == "change" and size > 1e5 else 300
                cases[f"{language} {name} {label}"] = case(
                    "call", language=language, function=function, size=size, times=times
                )
    cases["bare python eight"] = case("bare_start", language="python", together=8)
    cases["python eight"] = case("next_start", language="python", together=8)
    return cases


def targets() -> list[Target]:
    aims = []
    for language in LANGUAGES:
        aims += [
            Target(f"{language} 1 KB unseen", "ms", 1.5, f"{language} 1 KB unseen", "bare"),
            Target(f"{language} 1 MB unseen", "ms", 1.2, f"{language} 1 KB unseen"),
            Target(f"{language} 1 MB seen", "ms", 1.2, f"{language} 1 KB seen"),
        ]
    starts = [("python next start", "bare python start"), ("python eight", "bare python eight")]
    return [*aims, *(Target(case, "ms", 0.25, bare) for case, bare in starts)]


if __name__ == "__main__":
    main()
