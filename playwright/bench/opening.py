"""Opening a stored character until a message could be sent: all of its agents have started.

From the click on its card in a page that has started and has opened nobody yet, so that every
runtime is loaded and every worker made; the files are in the browser's cache. The character with
three JavaScript, two Lua and three Python agents beside those with a single one of each language.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from harness import BENCH, Case, Target, chromium, interleave, options, report, serving
from playwright.sync_api import Browser, BrowserContext
from troupe import troupe

STARTED = "html[data-started]"
CHARACTERS = {
    "one JavaScript agent": {"javascript": 1},
    "one Lua agent": {"lua": 1},
    "one Python agent": {"python": 1},
    "3 JavaScript, 2 Lua, 3 Python": {"javascript": 3, "lua": 2, "python": 3},
}
WATCH = (BENCH / "pages" / "settled.py").read_text("utf-8")

OPEN = """async (code) => {
    const root = document.documentElement;
    const appears = async (name) => {
        while (!(name in root.dataset)) await new Promise((resolve) => setTimeout(resolve, 2));
        return Number(root.dataset[name]);
    };
    const script = document.createElement("script");
    script.type = "py";
    script.textContent = code;
    document.body.append(script);
    await appears("watched");
    const from = performance.now();
    document.querySelector('#start li[data-id] [data-action="open-character"]').click();
    return (await appears("settled")) - from;
}"""


def stored(browser: Browser, url: str, file: str) -> BrowserContext:
    """A profile that has the character in its library."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{url}/?loadCharacter={url}/characters/{file}")
    page.wait_for_selector("#composer:not([disabled])", state="attached", timeout=60_000)
    page.close()
    return context


def opening(context: BrowserContext, url: str) -> Case:
    def case() -> dict[str, float]:
        page = context.new_page()
        page.goto(url)
        page.wait_for_selector(STARTED, state="attached", timeout=60_000)
        page.wait_for_selector('#start li[data-id] [data-action="open-character"]')
        page.set_default_timeout(120_000)
        figures = {"ready to send": float(page.evaluate(OPEN, WATCH))}
        page.close()
        return figures

    return case


TARGETS = (Target("3 JavaScript, 2 Lua, 3 Python", "ready to send", 2.0, "one Python agent"),)


def main() -> None:
    chosen = options(__doc__.splitlines()[0])
    with tempfile.TemporaryDirectory() as name, chromium() as browser:
        names = {f"{at}.zip": agents for at, agents in enumerate(CHARACTERS.values())}
        for file, agents in names.items():
            Path(name, file).write_bytes(troupe(**agents))
        with serving(None, flags=["--characters", name]) as (url,):
            cases = {
                title: opening(stored(browser, url, file), url)
                for title, file in zip(CHARACTERS, names, strict=True)
            }
            results = interleave(cases, chosen.rounds)
    report("opening", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
