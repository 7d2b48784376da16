"""The app's dealings with the DOM: templates, parts, listeners, frames, tasks.

Invariants: markup comes from ``templates/*.html``; text goes in as ``textContent``; every proxy
made for JavaScript is owned by one ``Listeners`` or ``Frames`` and destroyed by its ``close``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any

import js
from pyodide.ffi import create_proxy, jsnull, to_js

document = js.document
_loading: dict[str, asyncio.Task[None]] = {}


async def load_templates(name: str) -> None:
    """Fetches ``templates/{name}.html`` once and puts its templates into the page.

    Those that every start needs are in the page already.
    """
    if name in str(document.querySelector('meta[name="templates"]').content).split():
        return
    if name not in _loading:
        _loading[name] = asyncio.ensure_future(_fetch_templates(name))
    try:
        await asyncio.shield(_loading[name])
    except Exception:
        _loading.pop(name, None)
        raise


async def _fetch_templates(name: str) -> None:
    response = await js.fetch(f"templates/{name}.html")
    if not response.ok:
        raise RuntimeError(f"templates/{name}.html: HTTP {response.status}")
    parsed = js.DOMParser.new().parseFromString(await response.text(), "text/html")
    for template in list(parsed.querySelectorAll("template")):
        document.body.appendChild(document.adoptNode(template))


def clone(template: str) -> Any:
    """A fresh copy of the element in ``<template id="t-{template}">``."""
    content = document.getElementById(f"t-{template}").content
    return document.importNode(content.firstElementChild, True)


def missing(value: Any) -> bool:
    """Whether JavaScript said null or undefined. (Truth is no test: an empty list is false.)"""
    return value is None or value is jsnull


def by_id(name: str) -> Any:
    return document.getElementById(name)


def part(root: Any, name: str) -> Any:
    """The element marked ``data-part="{name}"`` inside ``root``."""
    return root.querySelector(f"[data-part={name}]")


def fill(root: Any, **texts: str) -> None:
    """Sets the text of several parts."""
    for name, text in texts.items():
        part(root, name.replace("_", "-")).textContent = text


def show(element: Any, visible: bool) -> None:
    if element.hidden == visible:
        element.hidden = not visible


def mark(element: Any, name: str, on: bool) -> None:
    """Sets or removes the flag ``data-{name}`` (dashes as in HTML)."""
    element.toggleAttribute(f"data-{name}", on)


def options(**values: Any) -> Any:
    """Keyword arguments as a JavaScript object."""
    return to_js(values, dict_converter=js.Object.fromEntries)


def grow(box: Any) -> None:
    """Fits a text box to its text where the style sheet cannot (``field-sizing``)."""
    if not js.CSS.supports("field-sizing", "content"):
        box.style.setProperty("height", "auto")
        box.style.setProperty("height", f"{box.scrollHeight}px")


class Listeners:
    """Event listeners with one owner; ``close`` removes them and frees their proxies."""

    live = 0
    """How many listeners are held now, over all owners; tests count it."""

    def __init__(self) -> None:
        self._held: list[tuple[Any, str, Any]] = []

    def on(self, target: Any, event: str, handler: Callable[[Any], Any], **flags: bool) -> None:
        proxy = create_proxy(handler)
        target.addEventListener(event, proxy, options(**flags))
        self._held.append((target, event, proxy))
        Listeners.live += 1

    def close(self) -> None:
        for target, event, proxy in self._held:
            target.removeEventListener(event, proxy)
            target.removeEventListener(event, proxy, True)
            proxy.destroy()
            Listeners.live -= 1
        self._held.clear()


HOLD = 50
"""Milliseconds that drawing waits at most for what is more urgent."""


class Frames:
    """Batches DOM work: one callback per key and animation frame, all in one task."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._waiting: dict[Hashable, Callable[[], None]] = {}
        self._asked = self._held = False
        self._run_proxy = create_proxy(self._run)
        self._release_proxy = create_proxy(self.release)

    def schedule(self, key: Hashable, work: Callable[[], None]) -> None:
        """Runs ``work`` in the next frame; a later call with the same key replaces it."""
        self._waiting[key] = work
        self._ask()

    def hold(self) -> None:
        """Draws nothing until ``release``, which comes by itself after a moment."""
        if not self._held:
            self._held = True
            js.setTimeout(self._release_proxy, HOLD)

    def release(self, *_: Any) -> None:
        self._held = False
        if self._waiting:
            self._ask()

    def _ask(self) -> None:
        if self._asked or self._held:
            return
        self._asked = True
        if document.hidden:
            js.setTimeout(self._run_proxy, 200)  # hidden pages get no animation frames
        else:
            js.requestAnimationFrame(self._run_proxy)

    def _run(self, *_: Any) -> None:
        self._asked = False
        if self._held:
            return
        waiting, self._waiting = self._waiting, {}
        for work in waiting.values():
            try:
                work()
            except Exception as error:
                self._report(error)


class Tasks:
    """Coroutines started by events: kept alive, and their errors shown to the user."""

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        self._report = report
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._report(error)


Handler = Callable[[Any, Any], Any]
"""Gets the element that carries the attribute, and the event; may return a coroutine."""


_KINDS = {"action": "click", "submit": "submit", "input": "input", "change": "change"}


class Dispatcher:
    """Delegated events: four listeners serve the whole page.

    ``data-action`` for clicks, ``data-submit`` for forms, ``data-input`` and ``data-change`` for
    fields name the handler that is registered here under the same name.
    """

    def __init__(self, tasks: Tasks, report: Callable[[BaseException], None]) -> None:
        self._tasks, self._report = tasks, report
        self._handlers: dict[tuple[str, str], Handler] = {}
        self._listeners = Listeners()
        for kind, event in _KINDS.items():
            self._listeners.on(document, event, self._listener(kind))

    def on(self, kind: str, name: str, handler: Handler) -> None:
        self._handlers[kind, name] = handler

    def _listener(self, kind: str) -> Callable[[Any], None]:
        def dispatch(event: Any) -> None:
            target = event.target
            if not hasattr(target, "closest"):
                return
            element = target.closest(f"[data-{kind}]")
            if missing(element):
                return
            if kind == "submit":
                event.preventDefault()
            self._call(
                self._handlers.get((kind, element.getAttribute(f"data-{kind}"))), element, event
            )

        return dispatch

    def _call(self, handler: Handler | None, element: Any, event: Any) -> None:
        if handler is None:
            return
        try:
            outcome = handler(element, event)
        except Exception as error:
            self._report(error)
            return
        if asyncio.iscoroutine(outcome):
            self._tasks.start(outcome)

    def close(self) -> None:
        self._listeners.close()
