"""Navigation to a usable page: the whole player beside other Python in the browser (``peers.py``).

Cold is a fresh browser profile's first visit; warm the second visit of the same profile, right
after the first became usable; back the third, after the second stayed on screen for a moment as a
visitor's does, so that the browser kept what it compiled. Usable is the player's composer, and of a
peer the first thing that its Python shows. Bytes are those the page itself receives: what the
workers of JupyterLite and marimo fetch is not counted, so theirs are left out. The floor is a page
that only puts the player's interpreter back and runs one line of Python.

It also prints what is imported at start beside what the snapshot holds, with milliseconds each.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import BENCH, Case, Target, aligned, chromium, interleave, options, report, serving
from peers import build as build_peers
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, Route

LIMIT = 120_000
STAY = 5_000
"""Milliseconds that a visitor stays."""
SLOW = {
    "offline": False,
    "latency": 40,
    "downloadThroughput": 2_500_000,
    "uploadThroughput": 2_500_000,
}
"""20 Mbit/s and 40 ms."""

# Records when `ready` first matches, first paint, and how far things jumped.
WATCH = """(ready) => {
    const seen = (globalThis.bench = { ready: 0, shift: 0 });
    const look = () => {
        if (!seen.ready && document.querySelector(ready)) seen.ready = performance.now();
    };
    new MutationObserver(look).observe(document, {
        subtree: true, childList: true, attributes: true });
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) seen.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
}"""
READ = """() => {
    const [painted] = performance.getEntriesByName("first-contentful-paint");
    return { ...bench, paint: painted?.startTime ?? 0 };
}"""

PLAYER_READY = "#composer:not([disabled])"
PEER_READY = "html[data-done]"
IN_WORKERS = ("JupyterLite", "marimo")


def visit(
    context: BrowserContext, url: str, ready: str, *, slow: bool = False, stay: int = 0
) -> dict[str, float]:
    page = context.new_page()
    received = watch_bytes(page, slow)
    page.add_init_script(f"({WATCH})({ready!r})")
    page.goto(url, wait_until="commit")
    page.wait_for_selector(ready, state="attached", timeout=LIMIT)
    seen = page.evaluate(READ)
    before_ready = received["bytes"]
    page.wait_for_timeout(stay)
    page.close()
    return {
        "ready": seen["ready"],
        "paint": seen["paint"],
        "shift": seen["shift"],
        "kB": before_ready / 1000,
    }


def watch_bytes(page: Page, slow: bool) -> dict[str, float]:
    client: CDPSession = page.context.new_cdp_session(page)
    client.send("Network.enable")
    if slow:
        client.send("Network.emulateNetworkConditions", SLOW)
    received = {"bytes": 0.0}

    def finished(event: dict[str, Any]) -> None:
        received["bytes"] += event["encodedDataLength"]

    client.on("Network.loadingFinished", finished)
    return received


def cold_and_warm(
    browser: Browser, url: str, ready: str, *, peer: bool, counted: bool
) -> Callable[[], dict[str, float]]:
    def case() -> dict[str, float]:
        # The server's policy is the player's own: other pages need inline scripts.
        context = browser.new_context(bypass_csp=peer)
        cold = visit(context, url, ready)
        warm = visit(context, url, ready, stay=STAY)
        back = visit(context, url, ready)
        context.close()
        figures = {f"cold {name}": value for name, value in cold.items()}
        figures |= {"warm ready": warm["ready"], "warm kB": warm["kB"], "back ready": back["ready"]}
        return {name: value for name, value in figures.items() if counted or "kB" not in name}

    return case


def throttled(browser: Browser, url: str, ready: str) -> Callable[[], dict[str, float]]:
    def case() -> dict[str, float]:
        context = browser.new_context()
        figures = visit(context, url, ready, slow=True)
        context.close()
        return {"20 Mbit/s ready": figures["ready"]}

    return case


def cases(browser: Browser, player: str, peers: str) -> dict[str, Case]:
    pages = {
        "player": (f"{player}/?loadCharacter={player}/sample.zip", PLAYER_READY),
        "floor": (f"{peers}/floor.html", PEER_READY),
        "bare PyScript": (f"{peers}/pyscript.html", PEER_READY),
        "bare Pyodide": (f"{peers}/pyodide.html", PEER_READY),
        "JupyterLite": (
            f"{peers}/assets/jupyterlite/repl/index.html?kernel=python&code=print('ready')",
            ".jp-OutputArea-output",
        ),
        "marimo": (f"{peers}/assets/marimo/index.html", "p.ready"),
    }
    made: dict[str, Case] = {}
    for name, (url, ready) in pages.items():
        made[name] = cold_and_warm(
            browser, url, ready, peer=name != "player", counted=name not in IN_WORKERS
        )
    for name in ("player", "bare PyScript"):
        made[f"{name}, slow network"] = throttled(browser, *pages[name])
    return made


WAKE = 'pyodide.pyimport("personae.browser.wake").wake();'
"""Where ``web/interpreter.mjs`` has put the interpreter back and nothing is imported yet."""


def imports(browser: Browser, player: str) -> str:
    """What the start imports beside what the snapshot holds, each with its own milliseconds."""
    watch = (BENCH / "pages" / "imports.py").read_text("utf-8")

    def add_watch(route: Route) -> None:
        source = route.fetch().text()
        assert source.count(WAKE) == 1
        changed = source.replace(WAKE, f"{WAKE} pyodide.runPython({json.dumps(watch)});")
        route.fulfill(body=changed, content_type="text/javascript")

    page = browser.new_page()
    page.route("**/interpreter.mjs", add_watch)
    page.goto(f"{player}/?loadCharacter={player}/sample.zip")
    page.wait_for_selector(PLAYER_READY, state="attached", timeout=LIMIT)
    known, times = json.loads(page.get_attribute("html", "data-imports") or "")
    page.close()
    rows = [["imported at start", "ms"], *([name, f"{own:.1f}"] for name, own in times)]
    total = sum(own for _, own in times)
    return (
        f"\n{aligned(rows)}\n"
        f"{len(times)} modules in {total:.1f} ms; {known - len(times)} came with the snapshot."
    )


TARGETS = (
    Target("player", "cold ready", 0.45, "bare PyScript"),
    Target("player", "warm ready", 0.35, "bare PyScript"),
    Target("player", "back ready", 0.35, "bare PyScript"),
    Target("player", "cold ready", 1.5, "floor"),
    Target("player", "warm ready", 1.5, "floor"),
    Target("player", "cold ready", 1.0, "bare Pyodide"),
    Target("player", "warm ready", 1.0, "bare Pyodide"),
    Target("player", "cold ready", 0.1, "JupyterLite"),
    Target("player", "warm ready", 1.0, "JupyterLite"),
    Target("player", "cold ready", 1.0, "marimo"),
    Target("player", "warm ready", 1.0, "marimo"),
    Target("player", "cold paint", 300),
    Target("player", "cold shift", 0.0),
    Target("player", "cold kB", 1.37, "bare PyScript"),
    Target("player, slow network", "20 Mbit/s ready", 1.0, "bare PyScript, slow network"),
)


def main() -> None:
    chosen = options(__doc__ or "")
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        build_peers(Path(name))
        with serving(None, Path(name)) as (player, peers):
            every = cases(browser, player, peers)
            wanted = {n: c for n, c in every.items() if not chosen.only or chosen.only in n}
            results = interleave(wanted, chosen.rounds)
            print(imports(browser, player))
    report("start", results, TARGETS, keep=chosen.keep and not chosen.only)


if __name__ == "__main__":
    main()
