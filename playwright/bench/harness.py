"""What the benches share: cases interleaved in one run, a table, JSON, comparison, the servers.

Invariants: every round runs each case once, in turn, so that a busy machine slows all of them
alike; a figure is judged as a ratio to the case it names, never against a number of another
machine; a result counts as changed when its ratio left the band that both runs' spread allows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent.parent
sys.path.append(str(ROOT))  # a bench is started by its path; its peers are built with `bundle`

from tests import chromium as launch  # noqa: E402 (from the root)

RESULTS = BENCH / "results"
NOISE = 0.15
"""Two medians that lie closer than this are the same, whatever their spread says."""


@dataclass
class Result:
    """One case's figures. ``values``: name -> all rounds; times are milliseconds, sizes bytes."""

    case: str
    values: dict[str, list[float]] = field(default_factory=dict)

    def add(self, figures: dict[str, float]) -> None:
        for name, value in figures.items():
            self.values.setdefault(name, []).append(round(value, 3))

    def median(self, name: str) -> float:
        return statistics.median(self.values[name])

    def spread(self, name: str) -> float:
        """Half the distance of the quartiles, as a part of the median."""
        values, middle = sorted(self.values[name]), self.median(name)
        if len(values) < 3 or not middle:
            return 0.0
        low, _, high = statistics.quantiles(values, n=4)
        return abs((high - low) / 2 / middle)


Case = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Target:
    """``case``'s ``figure`` is to be at most ``most`` times ``base``'s (or ``most`` itself)."""

    case: str
    figure: str
    most: float
    base: str | None = None
    base_figure: str | None = None


def interleave(cases: dict[str, Case], rounds: int, warmup: int = 1) -> list[Result]:
    """Runs every case ``rounds`` times, in turn; the first ``warmup`` rounds are thrown away."""
    results = {name: Result(name) for name in cases}
    for number in range(rounds + warmup):
        for name, case in cases.items():
            figures = case()
            if number >= warmup:
                results[name].add(figures)
        print(f"round {number + 1} of {rounds + warmup}", file=sys.stderr, flush=True)
    return list(results.values())


def table(results: Sequence[Result]) -> str:
    names = list(dict.fromkeys(name for result in results for name in result.values))
    head = ["case", *names]
    rows = [[r.case, *(shown(r, name) for name in names)] for r in results]
    return aligned([head, *rows])


def shown(result: Result, name: str) -> str:
    if name not in result.values:
        return ""
    spread = result.spread(name)
    return f"{result.median(name):,.1f}" + (f" ±{spread:.0%}" if spread >= 0.01 else "")


def aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    )


def judged(results: Sequence[Result], targets: Sequence[Target]) -> list[dict[str, Any]]:
    """Each target with the ratio (or figure) that was reached."""
    by_case = {result.case: result for result in results}
    verdicts = []
    for target in targets:
        if not {target.case, target.base or target.case} <= by_case.keys():
            continue
        own = by_case[target.case]
        value, spread = own.median(target.figure), own.spread(target.figure)
        title = f"{target.case}: {target.figure}"
        if target.base is not None:
            base, figure = by_case[target.base], target.base_figure or target.figure
            value, spread = value / (base.median(figure) or 1e-9), spread + base.spread(figure)
            title += f" / {target.base}: {figure}"
        verdicts.append(
            {"what": title, "reached": round(value, 3), "spread": round(spread, 3)}
            | {"target": target.most, "met": value <= target.most}
        )
    return verdicts


def compared(verdicts: Sequence[dict[str, Any]], earlier: Sequence[dict[str, Any]]) -> str:
    """The verdicts as a table, each against the last committed run."""
    before = {verdict["what"]: verdict for verdict in earlier}
    rows = [["what", "reached", "target", "", "last", "change"]]
    for now in verdicts:
        then = before.get(now["what"])
        rows.append(
            [now["what"], f"{now['reached']:,.2f}", f"{now['target']:g}"]
            + ["met" if now["met"] else "NOT MET"]
            + (["", "new"] if then is None else [f"{then['reached']:,.2f}", change(now, then)])
        )
    return aligned(rows)


def change(now: dict[str, Any], then: dict[str, Any]) -> str:
    if not then["reached"]:
        return "same" if now["reached"] < 1 else "WORSE"
    moved = now["reached"] / then["reached"] - 1
    if abs(moved) <= max(NOISE, now["spread"] + then["spread"]):
        return "same"
    return f"WORSE {moved:+.0%}" if moved > 0 else f"better {moved:+.0%}"


def report(
    name: str, results: Sequence[Result], targets: Sequence[Target], *, keep: bool = True
) -> None:
    """Prints everything; ``keep`` writes ``results/<name>.json`` to be committed."""
    path = RESULTS / f"{name}.json"
    earlier = json.loads(path.read_text("utf-8"))["targets"] if path.exists() else []
    verdicts = judged(results, targets)
    print(f"\n{table(results)}\n\n{compared(verdicts, earlier)}")
    if keep:
        RESULTS.mkdir(exist_ok=True)
        data = {"machine": machine(), "results": list(map(asdict, results)), "targets": verdicts}
        path.write_text(json.dumps(data, indent=1) + "\n", "utf-8")


def machine() -> dict[str, Any]:
    browser = subprocess.run([str(launch.EXECUTABLE), "--version"], capture_output=True, text=True)
    return {
        "processors": os.cpu_count(),
        "system": platform.system(),
        "browser": " ".join(re.findall(r"Chromium [\d.]+", browser.stdout)),
    }


def options(description: str, rounds: int = 5) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--no-keep", dest="keep", action="store_false", help="write no JSON")
    parser.add_argument("--only", help="run the cases whose name contains this")
    return parser.parse_args()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=launch.EXECUTABLE, args=launch.arguments()
        )
        yield browser
        browser.close()


@contextmanager
def serving(*folders: Path | None, flags: Sequence[str] = ()) -> Iterator[list[str]]:
    """The player's server on each folder (None: the built player); yields the URLs."""
    with ExitStack() as stack:
        yield [stack.enter_context(server(folder, flags)) for folder in folders]


@contextmanager
def server(folder: Path | None, flags: Sequence[str]) -> Iterator[str]:
    command = [sys.executable, "-m", "personae_server", "--port", "0", *flags]
    if folder is not None:
        command += ["--static", str(folder)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1
    )
    assert process.stdout
    try:
        for line in process.stdout:
            if found := re.search(r"http://[\d.]+:\d+", line):
                yield found[0]
                return
        raise AssertionError("the server did not start")
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()
