"""The player's own time in a turn with a tool call: early in a conversation, and after 2,000 turns.

"round" is from the end of the model's answer to the call of the agent, and from the agent's result
to the next request; "turn" is all of a turn but what the model and the agent take: both are waiting
as the user feels it, storing included. "processor" is what the turn costs the page's main thread,
drawing included, and does not grow when other programs have the processor.
"""

from __future__ import annotations

import json
import statistics
from typing import Any

from harness import Case, Target, chromium, interleave, options, report, serving
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from tests.provider.server import ModelProvider
from tests.provider.turns import calls, says

READY = "#composer:not([disabled])"
TURNS = 2_000
WARMUP, MEASURED = 3, 10
"""Turns of a case; those of the warm-up compile what the others use."""
LONG, NAME = "Two thousand turns", "Wren Tallow"
AT_END = """last => [...document.querySelectorAll("#feed > [data-entry-id]")]
    .some((row) => row.dataset.entryId >= last)"""

# Notes when requests are made and answered, and when the agent is called and answers.
WATCH = """(() => {
    const now = () => performance.now();
    globalThis.away = { model: [], agent: [] };
    const plainFetch = globalThis.fetch;
    globalThis.fetch = (url, ...more) => {
        if (String(url).endsWith("/chat/completions")) away.model.push({ from: now() });
        return plainFetch(url, ...more);
    };
    const reader = ReadableStreamDefaultReader.prototype, plainRead = reader.read;
    reader.read = async function () {
        const step = await plainRead.call(this);
        if (away.model.length && !step.done) away.model.at(-1).to = now();
        return step;
    };
    const type = (data) => {  // of a message on a worker's channel
        const [text] = [data].flat();
        const json = text instanceof ArrayBuffer ? new TextDecoder().decode(text) : String(text);
        return /"type": ?"(\\w+)"/.exec(json.slice(0, 200))?.[1];
    };
    const port = MessagePort.prototype, plainPost = port.postMessage;
    port.postMessage = function (data, ...more) {
        if (type(data) === "call") away.agent.push({ from: now() });
        return plainPost.call(this, data, ...more);
    };
    const heard = Object.getOwnPropertyDescriptor(port, "onmessage");
    Object.defineProperty(port, "onmessage", { ...heard, set(listener) {
        heard.set.call(this, listener && ((event) => {
            if (type(event.data) === "result") away.agent.at(-1).to = now();
            return listener.call(this, event);
        }));
    } });
})();"""
# Says something and waits for the answer and the end of the turn; where the time went, in ms.
TURN = """async ([text, answer]) => {
    away.model.length = away.agent.length = 0;
    const box = document.getElementById("composer"), stop = document.getElementById("stop");
    const feed = document.getElementById("feed");
    const ended = () => stop.hidden && feed.lastElementChild.textContent.includes(answer);
    box.value = text;
    box.dispatchEvent(new InputEvent("input", { bubbles: true }));
    const from = performance.now();
    document.getElementById("send").click();
    await new Promise((resolve) => {
        const look = (_, observer) => {
            if (!ended()) return;
            observer.disconnect();
            resolve();
        };
        const observer = new MutationObserver(look);
        observer.observe(stop, { attributes: true });
        observer.observe(feed, { childList: true, subtree: true, characterData: true });
    });
    const to = performance.now();
    const [first, second] = away.model;
    const tool = away.agent.find((call) => call.from > first.to && call.to < second.from);
    const spans = [...away.model, ...away.agent.filter((call) => call.to < to)];
    return {
        round: tool.from - first.to + second.from - tool.to,
        turn: to - from - spans.reduce((sum, span) => sum + span.to - span.from, 0),
    };
}"""


def conversation() -> dict[str, Any]:
    """An export of a conversation of as many turns, each with a tool call."""
    entries: list[dict[str, Any]] = []

    def add(role: str, content: str, **fields: Any) -> None:
        number = len(entries) + 1
        entries.append(
            {"id": f"e{number:010d}", "role": role, "content": content, "at": number, **fields}
        )

    for turn in range(1, TURNS + 1):
        call = {"id": f"c{turn}", "name": "roll_dice", "arguments": '{"sides":6}'}
        add("user", f"Question {turn}, and a few words more that lead up to it")
        add("assistant", "", tool_calls=[call | {"toolCallId": turn}])
        add("tool", "4", tool_call_id=f"c{turn}", toolCallId=turn, agentId="wren.fate", ok=True)
        add("assistant", f"Answer {turn}: " + "it goes *on* and on. " * (turn % 20))
    head = {
        "id": "x", "characterId": "y", "title": LONG, "named": True, "createdAt": 1,
        "updatedAt": 1, "nextEntry": len(entries) + 1, "lastToolCallId": TURNS, "tokensSpent": 0,
    }  # fmt: skip
    return {
        "format": "personae-conversation", "version": 1, "character": NAME,
        "conversation": head, "entries": entries, "stores": {},
    }  # fmt: skip


def prepared(browser: Browser, url: str) -> BrowserContext:
    """A profile in which the long conversation is the newest."""
    context = browser.new_context()
    page = started(context, url)
    data = json.dumps(conversation()).encode()
    page.locator("#import-file").set_input_files(
        {"name": "long.json", "mimeType": "application/json", "buffer": data}
    )
    page.get_by_text(f"Answer {TURNS}:").wait_for(timeout=60_000)
    page.close()
    return context


def started(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(f"{url}/?loadCharacter={url}/sample.zip")
    page.wait_for_selector(READY, state="attached", timeout=60_000)
    return page


def turns(context: BrowserContext, url: str, provider: ModelProvider, *, late: bool) -> Case:
    def case() -> dict[str, float]:
        page = started(context, url)
        use(page, provider)
        if late:
            page.locator('[data-action="open-conversation"]').filter(has_text=LONG).first.click()
            page.wait_for_function(AT_END, arg=f"e{4 * TURNS:010d}", timeout=60_000)
        else:
            page.get_by_test_id("new-conversation").first.click()
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        rows = [figures(page, session, provider, n) for n in range(WARMUP + MEASURED)][WARMUP:]
        page.close()
        return {name: statistics.median(row[name] for row in rows) for name in rows[0]}

    return case


def use(page: Page, provider: ModelProvider) -> None:
    page.locator('[data-action="open-settings"]').first.click()
    for field, value in (("base-url", provider.base_url), ("api-key", "k"), ("model-main", "m")):
        page.get_by_test_id(field).fill(value)
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)


def figures(
    page: Page, session: CDPSession, provider: ModelProvider, number: int
) -> dict[str, float]:
    provider.reset()
    answer = f"So it is, number {number}."
    provider.script(calls(("roll_dice", {"sides": 6})), says(answer))
    page.wait_for_selector(READY, state="attached")
    before = busy(session)
    row: dict[str, float] = page.evaluate(TURN, [f"Roll for {number}", answer])
    page.wait_for_timeout(300)
    spent = {name: 1000 * (value - before[name]) for name, value in busy(session).items()}
    return row | spent


def busy(session: CDPSession) -> dict[str, float]:
    """Processor time of the page's main thread so far, in seconds: all of it, and scripts'."""
    metrics = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return {"processor": metrics["TaskDuration"], "scripts": metrics["ScriptDuration"]}


EARLY, LATE = "turn 1 to 10", f"turn {TURNS:,}"
TARGETS = (
    Target(EARLY, "round", 10),
    Target(LATE, "round", 10),
    Target(LATE, "round", 1.2, EARLY),
    Target(LATE, "turn", 1.2, EARLY),
    Target(LATE, "processor", 1.2, EARLY),
)


def main() -> None:
    chosen = options(__doc__ or "")
    with chromium() as browser, serving(None) as (url,), ModelProvider() as provider:
        context = prepared(browser, url)
        cases = {
            EARLY: turns(context, url, provider, late=False),
            LATE: turns(context, url, provider, late=True),
        }
        results = interleave(cases, chosen.rounds, warmup=0)
    report("turn", results, TARGETS, keep=chosen.keep)


if __name__ == "__main__":
    main()
