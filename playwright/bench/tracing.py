"""What the browser's own trace says of a page's main thread."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page

TASK = "ThreadControllerImpl::RunTask"


@contextmanager
def processor_times(browser: Browser, page: Page) -> Iterator[list[float]]:
    """Filled at the end: how long each task kept the processor, in milliseconds.

    Unlike the time from a task's start to its end, this does not grow while other programs have
    the processor.
    """
    session = browser.new_browser_cdp_session()
    events: list[dict[str, Any]] = []
    ended: list[Any] = []
    times: list[float] = []
    session.on("Tracing.dataCollected", lambda data: events.extend(data["value"]))
    session.on("Tracing.tracingComplete", ended.append)
    config = {"includedCategories": ["toplevel"], "excludedCategories": ["*"]}
    session.send("Tracing.start", {"traceConfig": config, "transferMode": "ReportEvents"})
    yield times
    session.send("Tracing.end")
    while not ended:
        page.wait_for_timeout(50)
    session.detach()
    times += _busiest(events)


def _busiest(events: list[dict[str, Any]]) -> list[float]:
    """The tasks of the busiest page's main thread."""
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in events
        if event["name"] == "thread_name"
    }
    tasks: dict[tuple[int, int], list[float]] = defaultdict(list)
    for event in events:
        thread = (event["pid"], event["tid"])
        if event["name"] == TASK and names.get(thread) == "CrRendererMain":
            tasks[thread].append(event.get("tdur", 0) / 1000)
    return max(tasks.values(), key=sum)
