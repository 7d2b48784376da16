"""Memory of a page: the player with one agent beside bare Pyodide, and what a Python agent adds.

The proportional share (PSS) of all renderer processes of a browser that has this page only, less
what they took before, with a blank page; after a collection of garbage. The sandbox frame has a
process of its own, which is counted. Linux only.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness import BENCH, Case, Target, chromium, interleave, options, report, serving
from peers import bare_pyodide
from playwright.sync_api import Browser, Page
from troupe import troupe

SETTLE = 2.0
"""Seconds after which the renderers are measured."""
WATCH = (BENCH / "pages" / "settled.py").read_text("utf-8")
OPEN = """async ([code, link]) => {
    const root = document.documentElement;
    const appears = async (name) => {
        while (!(name in root.dataset)) await new Promise((resolve) => setTimeout(resolve, 10));
    };
    const script = document.createElement("script");
    script.type = "py";
    script.textContent = code;
    document.body.append(script);
    await appears("watched");
    const field = document.querySelector('[data-testid="load-url"]');
    field.value = link;
    field.form.requestSubmit();
    await appears("settled");
}"""


def megabytes(visit: Callable[[Page], None]) -> float:
    """What the page takes once ``visit`` has brought it where it is to be measured."""
    with chromium() as browser:
        page = browser.new_context(service_workers="block").new_page()
        page.goto("about:blank")
        blank = renderers(browser, page)
        visit(page)
        return renderers(browser, page) - blank


def renderers(browser: Browser, page: Page) -> float:
    page.context.new_cdp_session(page).send("HeapProfiler.collectGarbage")
    time.sleep(SETTLE)
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    session.detach()
    return sum(share(process["id"]) for process in processes if process["type"] == "renderer")


def share(process: int) -> float:
    """Megabytes of a process, shared ones divided among those who share them."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    assert found
    return int(found[1]) * 1024 / 1e6


def with_agents(player: str, file: str) -> Callable[[Page], None]:
    def visit(page: Page) -> None:
        page.goto(player)
        page.wait_for_selector('[data-testid="load-url"]', timeout=60_000)
        page.set_default_timeout(120_000)
        page.evaluate(OPEN, [WATCH, f"{player}/characters/{file}"])

    return visit


def bare(peers: str) -> Callable[[Page], None]:
    def visit(page: Page) -> None:
        page.goto(peers)
        page.wait_for_selector("html[data-done]", state="attached", timeout=60_000)

    return visit


def cases(player: str, peers: str) -> dict[str, Case]:
    def python_agents() -> dict[str, float]:
        one = megabytes(with_agents(player, "python1.zip"))
        three = megabytes(with_agents(player, "python3.zip"))
        return {"MB": one, "MB of each further one": (three - one) / 2}

    return {
        "bare Pyodide": lambda: {"MB": megabytes(bare(peers))},
        "player, one JavaScript agent": lambda: {
            "MB": megabytes(with_agents(player, "javascript1.zip"))
        },
        "player, one Python agent": python_agents,
    }


TARGETS = (
    Target("player, one JavaScript agent", "MB", 1.3, "bare Pyodide"),
    Target("player, one Python agent", "MB of each further one", 60),
)


def main() -> None:
    chosen = options(__doc__.splitlines()[0], rounds=3)
    with tempfile.TemporaryDirectory() as name:
        characters, pages = Path(name, "characters"), Path(name, "pages")
        characters.mkdir()
        bare_pyodide(pages)
        for language, count in (("javascript", 1), ("python", 1), ("python", 3)):
            (characters / f"{language}{count}.zip").write_bytes(troupe(**{language: count}))
        with (
            serving(None, flags=["--characters", str(characters)]) as (player,),
            serving(pages) as (peers,),
        ):
            results = interleave(cases(player, peers), chosen.rounds, warmup=0)
    report("memory", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
