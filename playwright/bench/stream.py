"""A reply of 100 KB with code and tables at 500 tokens a second, and how soon Stop answers.

"longest task" is by the clock, "busiest task" by the processor time it had. "second half" is the
processor time of the page's main thread per token late in the reply over that early in it: flat
is 1.
"""

from __future__ import annotations

from busy import BusyTasks
from harness import Case, Target, chromium, interleave, options, report, serving
from playwright.sync_api import Browser, CDPSession, Page

from tests.provider.server import ModelProvider
from tests.provider.turns import DONE, Pause, Turn, chunk, stream

READY = "#composer:not([disabled])"
TOKENS, LENGTH = 5_000, 100_000
BURST = 5
"""Tokens that arrive together, as networks deliver them."""

WATCH = """() => {
    globalThis.tasks = [];
    new PerformanceObserver((list) => {
        for (const { startTime, duration } of list.getEntries()) tasks.push([startTime, duration]);
    }).observe({ type: "longtask" });
}"""
# Resolves when the page has noticed the click: the stop button gone again.
STOP = """async () => {
    const from = performance.now();
    document.getElementById("stop").click();
    const stopped = () => document.getElementById("stop").hidden;
    while (!stopped()) await new Promise((resolve) => setTimeout(resolve, 1));
    return performance.now() - from;
}"""


def reply() -> str:
    block = (
        "A paragraph with *stress*, `code` and a [link](https://example.org) in it.\n\n"
        "```python\ndef twice(value: int) -> int:\n    return 2 * value  # doubled\n```\n\n"
        "| name | value |\n|---|---|\n| one | 1 |\n| two | 2 |\n\n- an item\n- another\n\n"
    )
    return (block * (LENGTH // len(block) + 1))[:LENGTH]


def turn() -> Turn:
    text, size = reply(), LENGTH // TOKENS
    tokens = [chunk({"content": text[at : at + size]}) for at in range(0, LENGTH, size)]
    steps: list[bytes | Pause] = []
    for start in range(0, len(tokens), BURST):
        steps += [Pause(BURST / 500), b"".join(tokens[start : start + BURST])]
    return stream(*steps, chunk({}, "stop"), DONE)


def talking(browser: Browser, url: str, provider: ModelProvider) -> Page:
    page = browser.new_context().new_page()
    page.add_init_script(f"({WATCH})()")
    page.goto(f"{url}/?loadCharacter={url}/sample.zip")
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    page.locator('[data-action="open-settings"]').first.click()
    for field, value in (("base-url", provider.base_url), ("api-key", "k"), ("model-main", "m")):
        page.get_by_test_id(field).fill(value)
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)
    provider.script(turn())
    page.get_by_test_id("composer").fill("Tell me everything")
    page.evaluate("() => { tasks.length = 0; globalThis.begun = performance.now(); }")
    page.get_by_test_id("send").click()
    page.wait_for_selector("#stop:not([hidden])", timeout=10_000)
    return page


def streaming(browser: Browser, url: str, provider: ModelProvider) -> Case:
    def case() -> dict[str, float]:
        page = talking(browser, url, provider)
        client = page.context.new_cdp_session(page)
        client.send("Performance.enable", {"timeDomain": "threadTicks"})
        watched = BusyTasks(browser, page)
        watched.start()
        before = busy(client)
        page.wait_for_timeout(4_000)
        middle = busy(client)
        page.wait_for_timeout(4_000)
        late = busy(client)
        page.wait_for_selector("#stop[hidden]", state="attached", timeout=60_000)
        busiest = watched.stop()
        tasks: list[list[float]] = page.evaluate("() => tasks")
        page.context.close()
        return {
            "longest task": max((duration for _, duration in tasks), default=0.0),
            "tasks over 50 ms": len(tasks),
            "busiest task": busiest,
            "second half": (late - middle) / (middle - before),
        }

    return case


def busy(client: CDPSession) -> float:
    """Seconds the page's main thread has had the processor so far."""
    metrics = {m["name"]: m["value"] for m in client.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def stopping(browser: Browser, url: str, provider: ModelProvider) -> Case:
    def case() -> dict[str, float]:
        page = talking(browser, url, provider)
        page.wait_for_timeout(3_000)
        seconds: float = page.evaluate(STOP)
        page.context.close()
        return {"stop": seconds}

    return case


TARGETS = (
    Target("streaming", "longest task", 50),
    Target("streaming", "busiest task", 50),
    Target("streaming", "second half", 1.3),
    Target("stopping", "stop", 100),
)


def main() -> None:
    chosen = options(__doc__ or "", rounds=3)
    with chromium() as browser, serving(None) as (url,), ModelProvider() as provider:
        cases = {
            "streaming": streaming(browser, url, provider),
            "stopping": stopping(browser, url, provider),
        }
        results = interleave(cases, chosen.rounds, warmup=0)
    report("stream", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
