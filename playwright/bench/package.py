"""Opening a package of 50 MB and 2,000 files, and the page's longest task meanwhile: by the clock
("longest task") and by the processor time it had ("busiest task").

The peer reads and inflates the same archive in a worker and does nothing else.
"""

from __future__ import annotations

import io
import random
import tempfile
import zipfile
from pathlib import Path

from busy import BusyTasks
from harness import Case, Target, chromium, interleave, options, report, serving
from playwright.sync_api import Browser

from bundle.paths import WEB

READY = "#composer:not([disabled])"
FILES, SIZE = 2000, 25_000

WATCH = """() => {
    globalThis.longest = 0;
    new PerformanceObserver((list) => {
        for (const task of list.getEntries()) longest = Math.max(longest, task.duration);
    }).observe({ type: "longtask" });
}"""
OPEN = """async (url) => {
    longest = 0;
    const from = performance.now();
    const field = document.querySelector('[data-testid="load-url"]');
    field.value = url;
    field.form.requestSubmit();
    const ready = () => document.querySelector("#composer:not([disabled])");
    while (!ready()) await new Promise((resolve) => setTimeout(resolve, 4));
    const opened = performance.now() - from;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { opened, "longest task": longest };
}"""
INFLATE = """async (url) => {
    const from = performance.now();
    const worker = new Worker("inflate.js");
    await new Promise((resolve) => {
        worker.onmessage = resolve;
        worker.postMessage(url);
    });
    worker.terminate();
    return { opened: performance.now() - from };
}"""


def archive() -> bytes:
    """The sample with 2,000 files of prose-like text in its context folder."""
    chance = random.Random(7)
    words = [
        "".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(4000)
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted((WEB / "sample").rglob("*")):
            if path.is_file():
                target.write(path, path.relative_to(WEB / "sample").as_posix())
        for number in range(FILES):
            text = " ".join(chance.choices(words, k=SIZE // 6))[:SIZE]
            target.writestr(f"assets/folder{number % 20}/file{number}.txt", text)
    return out.getvalue()


def whole(browser: Browser, url: str, link: str) -> Case:
    def case() -> dict[str, float]:
        context = browser.new_context()
        page = context.new_page()
        page.add_init_script(f"({WATCH})()")
        page.goto(url)
        page.wait_for_selector("html[data-started]", state="attached", timeout=60_000)
        page.wait_for_selector('[data-testid="load-url"]')
        tasks = BusyTasks(browser, page)
        tasks.start()
        figures: dict[str, float] = page.evaluate(OPEN, link)
        figures["busiest task"] = tasks.stop()
        context.close()
        return figures

    return case


def inflated(browser: Browser, peers: str, link: str) -> Case:
    def case() -> dict[str, float]:
        page = browser.new_page()
        page.goto(f"{peers}/blank.html")
        figures: dict[str, float] = page.evaluate(INFLATE, link)
        page.close()
        return figures

    return case


TARGETS = (
    Target("player", "longest task", 50),
    Target("player", "busiest task", 50),
    Target("player", "opened", 2.0, "worker alone"),
)


def main() -> None:
    chosen = options(__doc__ or "", rounds=3)
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        folder = Path(name)
        for page in (Path(__file__).parent / "pages").iterdir():
            (folder / page.name).write_bytes(page.read_bytes())
        (folder / "index.html").write_bytes((folder / "blank.html").read_bytes())
        (folder / "large.zip").write_bytes(archive())
        characters = folder / "characters"
        characters.mkdir()
        (characters / "large.zip").write_bytes((folder / "large.zip").read_bytes())
        with (
            serving(None, flags=["--characters", str(characters)]) as (player,),
            serving(folder) as (peers,),
        ):
            cases = {
                "player": whole(browser, player, f"{player}/characters/large.zip"),
                "worker alone": inflated(browser, peers, f"{peers}/large.zip"),
            }
            results = interleave(cases, chosen.rounds, warmup=0)
    report("package", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
