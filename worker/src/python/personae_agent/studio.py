"""The ``studio`` object of a Python agent: the contract's camelCase methods, each awaitable."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .values import Refused, to_json

Emit = Callable[..., None]


class StudioError(Exception):
    """The player refused a call, or it failed. ``code`` is stable."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


class Studio:
    """Makes the object agents get, and matches answers to what they await."""

    def __init__(self, methods: dict[str, list[str]], most: int, emit: Emit) -> None:
        self._methods = methods
        self._most = most
        self._emit = emit
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._calling = False
        self._last = 0
        self._own: dict[str, Callable[..., Any]] = {
            "toast": lambda message: self._notice("toast", message),
            "log": lambda message: self._notice("log", message),
        }
        self._groups: dict[str, dict[str, Callable[..., Any]]] = {}
        for method in methods:
            group, _, name = method.rpartition(".")
            calls = self._groups.setdefault(group, {}) if group else self._own
            calls[name] = self._caller(method)

    def begin(self) -> None:
        self._calling = True

    def end(self) -> None:
        self._calling = False
        self._waiting.clear()

    def new_object(self) -> SimpleNamespace:
        """A fresh one for every call: what an agent does to it ends with the call."""
        groups = {name: SimpleNamespace(**calls) for name, calls in self._groups.items()}
        return SimpleNamespace(**self._own, **groups)

    def settle(self, answer: dict[str, Any]) -> None:
        future = self._waiting.pop(answer["id"], None)
        if future is None or future.done():
            return
        if answer["ok"]:
            future.set_result(answer["value"])
        else:
            future.set_exception(StudioError(answer["message"], answer["code"]))

    def _notice(self, kind: str, message: object) -> None:
        self._emit(op="notice", kind=kind, text=str(message))

    def _caller(self, method: str) -> Callable[..., asyncio.Future[Any]]:
        def call(*values: Any, **named: Any) -> asyncio.Future[Any]:
            return self._request(method, self._in_order(method, list(values), named))

        call.__name__ = call.__qualname__ = method
        return call

    def _in_order(self, method: str, values: list[Any], named: dict[str, Any]) -> list[Any]:
        names = self._methods[method]
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"studio.{method} has no parameter {name}")
            index = names.index(name)
            values.extend([None] * (index + 1 - len(values)))
            values[index] = value
        return values

    def _request(self, method: str, values: list[Any]) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        problem = self._problem(method)
        try:
            text = to_json(values, f"arguments of studio.{method}")
        except Refused as refused:
            problem = (str(refused), "bad_argument")
        if problem is not None:
            future.set_exception(StudioError(*problem))
            return future
        assert text is not None
        self._last += 1
        self._waiting[self._last] = future
        self._emit(op="request", id=self._last, method=method, arguments=json.loads(text))
        return future

    def _problem(self, method: str) -> tuple[str, str] | None:
        if not self._calling:
            return f"studio.{method} is only there while a call runs", "no_call"
        if len(self._waiting) >= self._most:
            return (
                f"more than {self._most} studio calls at once; await some first",
                "too_many_requests",
            )
        return None
