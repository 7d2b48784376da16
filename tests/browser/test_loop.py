"""The event loop of the page: what is ready runs together, and the browser gets its turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any

import pytest
from personae.browser import loop as page_loop


class Browser(asyncio.AbstractEventLoop):
    """Pyodide's loop and the browser's, whose tasks and microtasks are run by hand."""

    def __init__(self) -> None:
        self.tasks: list[Callable[[], None]] = []
        self.microtasks: list[Callable[[], None]] = []
        self.complaints: list[dict[str, Any]] = []
        page_loop.run_ready_together(self, self.asks)

    def asks(self, function: Callable[[], None]) -> Callable[[], None]:
        return lambda: self.microtasks.append(function)

    def call_later(self, delay: float, callback: Any, *args: Any, context: Any = None) -> Any:
        assert delay == 0
        self.tasks.append(lambda: callback(*args))

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        self.complaints.append(context)

    def get_debug(self) -> bool:
        return False

    def run_task(self) -> None:
        self.tasks.pop(0)()
        self.end_task()

    def end_task(self) -> None:
        while self.microtasks:
            self.microtasks.pop(0)()


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds of the clock."""
    now = [1.0]
    monkeypatch.setattr(page_loop.time, "monotonic", lambda: now[0])
    return now


def test_what_becomes_ready_runs_when_the_task_ends(time: list[float]) -> None:
    browser, ran = Browser(), []

    def step(name: str, *then: str) -> None:
        ran.append(name)
        for follower in then:
            browser.call_soon(step, follower)

    browser.call_soon(step, "a", "c", "d")
    browser.call_soon(step, "b", "e")
    assert ran == [], "nothing runs at once"
    browser.end_task()
    assert ran == ["a", "b", "c", "d", "e"]
    assert browser.tasks == []


def test_the_browser_has_its_turn(time: list[float]) -> None:
    browser, ran = Browser(), []

    def long(name: str) -> None:
        ran.append(name)
        time[0] += page_loop.TURN

    for name in ("a", "b", "c"):
        browser.call_soon(long, name)
    browser.end_task()
    assert ran == ["a"]
    browser.run_task()
    assert ran == ["a", "b"]
    browser.run_task()
    assert (ran, browser.tasks) == (["a", "b", "c"], [])


def test_what_makes_more_ready_again_and_again_lets_the_browser_run(time: list[float]) -> None:
    browser, ran = Browser(), 0

    def promise() -> None:  # one that is fulfilled at once
        nonlocal ran
        ran += 1
        time[0] += page_loop.TURN / 4
        browser.microtasks.append(lambda: browser.call_soon(promise))

    browser.call_soon(promise)
    browser.end_task()
    assert ran == 4
    assert len(browser.tasks) == 1
    browser.run_task()
    assert ran == 8


def test_after_a_pause_what_is_ready_runs_at_once_again(time: list[float]) -> None:
    browser, ran = Browser(), []

    def long(name: str) -> None:
        ran.append(name)
        time[0] += page_loop.TURN

    browser.call_soon(long, "a")
    browser.end_task()
    time[0] += page_loop.BREATH
    browser.call_soon(long, "b")
    browser.end_task()
    assert ran == ["a", "b"]


def test_what_is_cancelled_does_not_run(time: list[float]) -> None:
    browser, ran = Browser(), []
    browser.call_soon(ran.append, "a").cancel()
    browser.call_soon(ran.append, "b")
    browser.end_task()
    assert ran == ["b"]


def test_a_failure_stops_nobody(time: list[float]) -> None:
    browser, ran = Browser(), []
    browser.call_soon(int, "x")
    browser.call_soon(ran.append, "b")
    browser.end_task()
    assert ran == ["b"]
    assert isinstance(browser.complaints[0]["exception"], ValueError)


def test_what_ends_the_task_leaves_the_rest_for_the_next(time: list[float]) -> None:
    browser, ran = Browser(), []

    def leave() -> None:
        raise SystemExit

    browser.call_soon(leave)
    browser.call_soon(ran.append, "b")
    with pytest.raises(SystemExit):
        browser.end_task()
    browser.end_task()
    assert ran == ["b"]


def test_callbacks_run_in_their_context(time: list[float]) -> None:
    browser, ran = Browser(), []
    name: ContextVar[str] = ContextVar("name", default="none")
    context = copy_context()
    context.run(name.set, "inner")
    browser.call_soon(lambda: ran.append(name.get()), context=context)
    browser.call_soon(lambda: ran.append(name.get()))
    browser.end_task()
    assert ran == ["inner", "none"]
