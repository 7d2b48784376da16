"""Memory of a page: the player with one agent beside bare Pyodide, and what a Python agent adds.

The proportional share (PSS) of the renderer processes that the page brings, the sandbox frame's
too. No debugger is attached, since one keeps the bodies of all responses, and no service worker
runs, since one fills its cache for a while. Linux only.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from harness import Case, Target, interleave, options, report, serving
from peers import bare_pyodide
from troupe import troupe

from bundle.paths import STATIC
from tests import chromium as launch

STEADY = 0.01
PAUSE = 5.0
"""Memory is what it stays at: within 1 % for two pauses of 5 s."""
LIMIT = 120.0
FLAGS = ("--headless=new", "--remote-debugging-port=0", "--no-first-run")
PORT_FILE = "DevToolsActivePort"


class Chromium:
    """A browser that is only asked for its open pages' titles."""

    def __init__(self, process: subprocess.Popen[bytes], profile: Path) -> None:
        self._process = process
        waited(lambda: (profile / PORT_FILE).exists())
        self._port = (profile / PORT_FILE).read_text("ascii").split()[0]

    def open(self, url: str) -> None:
        self._ask(f"new?{url}", "PUT")

    def titles(self) -> list[str]:
        return [str(target["title"]) for target in self._ask("list", "GET")]

    def renderers(self) -> set[int]:
        return set(filter(is_renderer, descendants(self._process.pid)))

    def megabytes(self, but: set[int]) -> float:
        """The memory of the renderers, ``but`` for some, once it is steady."""
        readings: list[float] = []
        while len(readings) < 3 or max(readings[-3:]) > (1 + STEADY) * min(readings[-3:]):
            time.sleep(PAUSE)
            readings.append(sum(map(share, self.renderers() - but)))
        return readings[-1]

    def _ask(self, what: str, method: str) -> Any:
        url = f"http://127.0.0.1:{self._port}/json/{what}"
        with urllib.request.urlopen(urllib.request.Request(url, method=method)) as answer:
            return json.load(answer)


def descendants(process: int) -> Iterator[int]:
    for listing in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, listing.read_text("ascii").split()):
                yield child
                yield from descendants(child)


def is_renderer(process: int) -> bool:
    try:
        return b"--type=renderer" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False  # it has ended


def share(process: int) -> float:
    """Megabytes of a process, shared ones divided among those who share them."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except OSError:
        return 0.0  # it has ended
    found = re.search(r"^Pss: +(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def waited(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + LIMIT
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError("the browser does not get there")
        time.sleep(0.1)


@contextmanager
def chromium() -> Iterator[Chromium]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        flags = [*FLAGS, *launch.arguments("SpareRendererForSitePerProcess")]
        flags.append(f"--user-data-dir={profile}")
        command = [str(launch.EXECUTABLE), *flags, "about:blank"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            yield Chromium(process, Path(profile))
        finally:
            process.terminate()
            process.wait(20)


def taken(url: str, title: str) -> float:
    """Megabytes of the page at ``url``, from when its title contains ``title``."""
    with chromium() as browser:
        browser.megabytes(set())  # whatever the browser itself starts with has started then
        others = browser.renderers()
        browser.open(url)
        waited(lambda: any(title in found for found in browser.titles()))
        return browser.megabytes(others)


def cases(player: str, pages: str) -> dict[str, Case]:
    def played(file: str) -> float:
        return taken(f"{player}/?loadCharacter={player}/characters/{file}", "Troupe")

    def python_agents() -> dict[str, float]:
        one, three = played("python1.zip"), played("python3.zip")
        return {"MB": one, "MB of each further one": (three - one) / 2}

    return {
        "bare Pyodide": lambda: {"MB": taken(f"{pages}/pyodide.html", "Ready")},
        "player, one JavaScript agent": lambda: {"MB": played("javascript1.zip")},
        "player, one Python agent": python_agents,
    }


TARGETS = (
    Target("player, one JavaScript agent", "MB", 1.3, "bare Pyodide"),
    Target("player, one Python agent", "MB of each further one", 60),
)


def main() -> None:
    chosen = options(__doc__.splitlines()[0], rounds=3)
    with tempfile.TemporaryDirectory() as name:
        characters, pages, player = Path(name, "zips"), Path(name, "pages"), Path(name, "player")
        characters.mkdir()
        bare_pyodide(pages)
        shutil.copytree(STATIC, player, ignore=shutil.ignore_patterns("service-worker.js*"))
        for language, count in (("javascript", 1), ("python", 1), ("python", 3)):
            (characters / f"{language}{count}.zip").write_bytes(troupe(**{language: count}))
        flags = ["--characters", str(characters)]
        with serving(player, pages, flags=flags) as (played, bare):
            results = interleave(cases(played, bare), chosen.rounds, warmup=0)
    report("memory", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
