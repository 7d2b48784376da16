"""Opening a stored conversation: of 10 entries and of 10,000, in the whole player.

The entries are put into the page's own IndexedDB; measured is from the navigation to the composer
and from the click in the list to the last message in view, and the page's longest task meanwhile:
by the clock ("longest task") and by the processor time it had ("busiest task").
"""

from __future__ import annotations

from busy import BusyTasks
from harness import Case, Target, chromium, interleave, options, report, serving
from playwright.sync_api import Browser, BrowserContext, Page

READY = "#composer:not([disabled])"
SIZES = (10, 10_000)

# Writes a conversation of `count` entries beside the one that is open, made by its pattern.
WRITE = """async ([count, id, text]) => {
    const database = await new Promise((resolve, reject) => {
        const opening = indexedDB.open("personae");
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
    });
    const tables = ["conversations", "entries"];
    const transaction = database.transaction(tables, "readwrite");
    const heads = transaction.objectStore("conversations");
    const [known] = await new Promise((resolve) => {
        const all = heads.getAll();
        all.onsuccess = () => resolve(all.result);
    });
    const head = { ...JSON.parse(known), id, title: id, nextEntry: count + 1, lastToolCallId: 0 };
    heads.put(JSON.stringify(head), [head.characterId, id]);
    const entries = transaction.objectStore("entries");
    for (let number = 1; number <= count; number++) {
        const entry = { id: "e" + String(number).padStart(10, "0"), at: 1700000000000 + number,
            role: number % 2 ? "user" : "assistant", content: `${text} ${number}` };
        entries.put(JSON.stringify(entry), [id, entry.id]);
    }
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    database.close();
}"""
# Clicks the conversation and waits for its last entry; then watches tasks for two more seconds.
OPEN = """async ([id, last]) => {
    let longest = 0;
    const watch = new PerformanceObserver((list) => {
        for (const task of list.getEntries()) longest = Math.max(longest, task.duration);
    });
    watch.observe({ type: "longtask" });
    const from = performance.now();
    document.querySelector(`[data-id="${id}"] [data-action="open-conversation"],
        [data-id="${id}"][data-action="open-conversation"]`).click();
    const shown = () => document.querySelector(`[data-entry-id="${last}"]`);
    while (!shown()) await new Promise(requestAnimationFrame);
    const opened = performance.now() - from;
    await new Promise((resolve) => setTimeout(resolve, 2000));
    watch.disconnect();
    return { opened, "longest task": longest };
}"""


def title(count: int) -> str:
    return f"c{count}"


def prepared(browser: Browser, url: str) -> BrowserContext:
    """A profile with the sample and one conversation of each size."""
    context = browser.new_context()
    page = started(context, url)
    for count in SIZES:
        page.evaluate(WRITE, [count, title(count), "Some words, *as one says them*, in line"])
    page.close()
    return context


def started(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(f"{url}/?loadCharacter={url}/sample.zip")
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    return page


def opening(browser: Browser, context: BrowserContext, url: str, count: int) -> Case:
    """Opens the conversation from one of the other kind, so that nothing of it is there yet."""

    def case() -> dict[str, float]:
        page = started(context, url)
        other = next(size for size in SIZES if size != count)
        page.wait_for_selector(f'[data-id="{title(other)}"]')
        page.evaluate(OPEN, [title(other), f"e{other:010d}"])
        tasks = BusyTasks(browser, page)
        tasks.start()
        figures: dict[str, float] = page.evaluate(OPEN, [title(count), f"e{count:010d}"])
        figures["busiest task"] = tasks.stop()
        page.close()
        return figures

    return case


TARGETS = (
    Target("10,000 entries", "opened", 1.2, "10 entries"),
    Target("10,000 entries", "longest task", 50),
    Target("10,000 entries", "busiest task", 50),
    Target("10 entries", "busiest task", 50),
)


def main() -> None:
    chosen = options(__doc__ or "")
    with chromium() as browser, serving(None) as (url,):
        context = prepared(browser, url)
        cases = {f"{count:,} entries": opening(browser, context, url, count) for count in SIZES}
        results = interleave(cases, chosen.rounds)
    report("conversation", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
