"""The processor time of a page's tasks: what a task costs, however busy the machine is.

The browser's own measure of a long task is the time from its beginning to its end, in which a
busy machine runs other programs too.
"""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Browser, Page

MARK = "bench"


class BusyTasks:
    """Watches the main thread of ``page`` from ``start`` to ``stop``."""

    def __init__(self, browser: Browser, page: Page) -> None:
        self._client = browser.new_browser_cdp_session()
        self._page = page
        self._events: list[dict[str, Any]] = []
        self._ended = False
        self._client.on("Tracing.dataCollected", self._collect)
        self._client.on("Tracing.tracingComplete", self._end)

    def start(self) -> None:
        categories = ["toplevel", "blink.user_timing"]
        config = {"includedCategories": categories, "recordMode": "recordAsMuchAsPossible"}
        self._client.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
        self._page.evaluate("(mark) => performance.mark(mark)", MARK)

    def stop(self) -> float:
        """Milliseconds that the task which took most had the processor."""
        self._client.send("Tracing.end")
        while not self._ended:
            self._page.wait_for_timeout(20)
        self._client.detach()
        mark = [event for event in self._events if event["name"] == MARK][-1]
        return max(
            float(event.get("tdur", 0)) / 1000
            for event in self._events
            if event.get("ph") == "X"
            and (event["pid"], event["tid"]) == (mark["pid"], mark["tid"])
            and event["ts"] >= mark["ts"]
            and event["name"].endswith("RunTask")
        )

    def _collect(self, event: dict[str, Any]) -> None:
        self._events.extend(event["value"])

    def _end(self, _event: dict[str, Any]) -> None:
        self._ended = True
