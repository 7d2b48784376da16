"""Plays thousands of turns with tools in one tab and measures what grows.

    python playwright/bench/long_haul.py --turns 2000

Prints a row of measurements at intervals and, at the end, how long it takes to open the long
conversation and a short one. It exits with 1 when something grew that should be flat: workers,
frames, listeners, nodes of the document and detached ones, JavaScript values that Python holds,
and heap beyond what the conversation itself takes. Nodes are counted in the document, because the
browser's own count includes the undo history of the message box: two for each message, up to 2,000.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "playwright")]

from app_page import AppPage  # noqa: E402
from faults.world import HERE, NAME, inject, moody, stored  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402

from tests import chromium as launch  # noqa: E402
from tests.provider.server import ModelProvider  # noqa: E402
from tests.provider.turns import Turn, calls, says  # noqa: E402

BYTES_PER_ENTRY = 8 * 1024
"""Heap that one entry may take in the page: its object, its text, its share of lists."""
FLAT = ("workers", "frames", "listeners", "nodes", "detached", "references")
COUNT_NODES = """() => {
    const walker = document.createTreeWalker(document);
    let count = 0;
    while (walker.nextNode()) count += 1;
    return count;
}"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--every", type=int, default=250)
    options = parser.parse_args()
    with served() as url, ModelProvider() as provider, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=launch.EXECUTABLE,
            args=[*launch.arguments(), "--js-flags=--expose-gc"],
        )
        context = browser.new_context()
        inject(context)
        context.add_init_script(path=HERE / "footprint.js")
        path = moody(Path(tempfile.mkdtemp()))
        app = AppPage(context.new_page(), url).open().open_file(path).talks_to(NAME)
        app.use_provider(provider.base_url, key="")
        rows = list(play(app, provider, options.turns, options.every))
        opening = {"long": opened(app, options.turns)}
        app.by("new-conversation").first.click()
        turn(app, provider, 0)
        opening["short"] = opened(app, 0)
        print(json.dumps({"opening seconds": opening}))
        browser.close()
    problems = grown(rows)
    print("\n".join(problems) or "flat")
    return 1 if problems else 0


@contextmanager
def served() -> Iterator[str]:
    command = [sys.executable, "-m", "personae_server", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            yield next(
                found[0]
                for line in server.stdout
                if (found := re.search(r"http://[\d.]+:\d+", line))
            )
        finally:
            server.terminate()


def play(app: AppPage, provider: ModelProvider, turns: int, every: int) -> Iterator[dict[str, Any]]:
    session = app.page.context.new_cdp_session(app.page)
    session.send("Performance.enable")
    session.send("DOM.enable")
    started = time.monotonic()
    for number in range(1, turns + 1):
        turn(app, provider, number)
        if number % every == 0 or number == 20:
            row = {"turn": number, **measured(app.page, session)}
            row["secondsPerTurn"] = round((time.monotonic() - started) / number, 3)
            print(json.dumps(row), flush=True)
            yield row


def turn(app: AppPage, provider: ModelProvider, number: int) -> None:
    provider.reset()  # requests grow with the history: none is kept
    answers: list[Turn] = [calls(("act", {"how": ""})), says(f"Answer {number}.")]
    provider.script(*answers)
    app.say(f"Question {number}").answered(f"Answer {number}.")


def measured(page: Page, session: Any) -> dict[str, Any]:
    page.evaluate("globalThis.gc?.()")
    metrics = {
        item["name"]: item["value"] for item in session.send("Performance.getMetrics")["metrics"]
    }
    records = stored(page)
    targets = session.send("Target.getTargets")["targetInfos"]
    return {
        "workers": sum(target["type"] == "worker" for target in targets),
        "frames": int(metrics["Frames"]),
        "listeners": int(metrics["JSEventListeners"]),
        "nodes": page.evaluate(COUNT_NODES),
        "detached": len(session.send("DOM.getDetachedDomNodes")["detachedNodes"]),
        "references": page.evaluate("footprint.references()"),
        "heap": int(metrics["JSHeapUsedSize"]),
        "interpreter": page.evaluate("footprint.memory()"),
        "records": {table: len(found) for table, found in records.items()},
    }


def opened(app: AppPage, number: int) -> float:
    """Seconds from the reload to an open conversation."""
    started = time.monotonic()
    app.reload().talks_to(NAME).answered(f"Answer {number}.")
    return round(time.monotonic() - started, 2)


def grown(rows: list[dict[str, Any]]) -> list[str]:
    """What is larger in the last row than the second, beyond the conversation itself."""
    first, last = rows[1], rows[-1]
    problems = [
        f"{name}: {first[name]} became {last[name]}"
        for name in FLAT
        if last[name] > first[name] * 1.1 + 100
    ]
    entries = last["records"]["entries"] - first["records"]["entries"]
    for name in ("heap", "interpreter"):
        if last[name] - first[name] > entries * BYTES_PER_ENTRY + 4 * 2**20:
            problems.append(f"{name}: {first[name]} became {last[name]}")
    for table in ("stores", "logs", "conversations", "packages", "settings"):
        if last["records"][table] != first["records"][table]:
            problems.append(f"records of {table} became more")
    return problems


if __name__ == "__main__":
    sys.exit(main())
