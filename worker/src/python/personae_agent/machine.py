"""The Python end of a worker: loads one agent, runs its functions, reports what happens.

Invariants: text is all that crosses. The host calls the functions at the end of this module with
strings; they answer by writing to one file descriptor, a message a write: a line of JSON, then
the store's text where the message carries one. No JavaScript object is ever handed to Python.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .confine import confine
from .loop import AgentLoop
from .store import Store
from .studio import Studio
from .thrown import described, remember
from .values import to_json, well_formed

MODULE = "agent"


class Machine:
    def __init__(self, limits: dict[str, Any], outlet: int) -> None:
        self._outlet = outlet
        self._loop = AgentLoop(lambda text: self.emit(op="notice", kind="console", text=text))
        self._studio = Studio(limits["studio"], limits["openRequests"], self.emit)
        self._store = Store()
        self._agent: ModuleType | None = None
        self._path = ""
        self._capacities: dict[str, tuple[Any, int | None]] = {}

    def emit(self, *, store: str | None = None, **emission: Any) -> None:
        line = json.dumps(emission)
        os.write(self._outlet, f"{line}\n{store or ''}".encode("utf-8", "replace"))

    def load(self, program: dict[str, Any]) -> None:
        """Runs the module; emits which of the wanted names it defines as functions."""
        self._path = program["filename"]
        self._agent = module = ModuleType(MODULE)
        module.__file__ = self._path
        sys.modules[MODULE] = module
        remember(self._path, program["source"])
        try:
            exec(compile(program["source"], self._path, "exec"), module.__dict__)  # noqa: S102
        except BaseException as error:
            failure = described(error, self._path)
            kind = "memory" if failure["kind"] == "memory" else "load"
            self.emit(op="error", **{**failure, "kind": kind})
            return
        names = [name for name in program["wanted"] if callable(getattr(module, name, None))]
        self.emit(op="loaded", names=names)

    def begin(self, name: str, text: str, store: str | None) -> str | None:
        """Starts a call. ``text``: the arguments and the context.

        ``store`` is the path of a file with the store's text, when it is a new one. Answers "-"
        or "=" and a text when the call has ended with no value or that one and left the store as
        it was; else what happens is emitted.
        """
        if store is not None:
            self._store.load(Path(store).read_text(encoding="utf-8"))
            Path(store).unlink()
        handler = getattr(self._agent, name, None)
        if not callable(handler):
            self.emit(op="error", kind="missing", message=f"the agent defines no function {name}")
            return None
        self._studio.begin()
        ended = self._start(name, handler, json.loads(text))
        self.run()
        return ended

    def _start(self, name: str, handler: Any, values: list[Any]) -> str | None:
        values[-1:] = [self._store.value, self._studio.new_object(), values[-1]]
        try:
            returned = handler(*values[: self._capacity(name, handler)])
            if not inspect.isawaitable(returned):
                return self._finish(returned)
            self._loop.create_task(self._await(returned))
        except BaseException as error:
            self._fail(error)
        return None

    def _capacity(self, name: str, handler: Any) -> int | None:
        known, capacity = self._capacities.get(name, (None, None))
        if known is not handler:
            capacity = _capacity(handler)
            self._capacities[name] = (handler, capacity)
        return capacity

    def settle(self, answer: dict[str, Any]) -> None:
        self._studio.settle(answer)
        self.run()

    def run(self) -> None:
        """Runs what is ready; asks to be woken when there are timers."""
        after = self._loop.run_ready()
        if after is not None:
            self.emit(op="wake", after=after * 1000)

    async def _await(self, returned: Any) -> None:
        try:
            ended = self._finish(await returned)
        except BaseException as error:
            self._fail(error)
        else:
            if ended is not None:
                self.emit(op="result", value=None if ended == "-" else ended[1:])

    def _finish(self, returned: Any) -> str | None:
        """See ``begin``."""
        value: str | None = None
        if returned is not None:
            is_text = isinstance(returned, str)
            value = well_formed(returned) if is_text else to_json(returned, "result")
        changed = self._store.save()
        self._studio.end()
        if changed is None:
            return "-" if value is None else f"={value}"
        self.emit(op="result", value=value, store=changed)
        return None

    def _fail(self, error: BaseException) -> None:
        self._studio.end()
        self.emit(op="error", **described(error, self._path))


def _capacity(handler: Any) -> int | None:
    """How many positional arguments the handler takes; None for any number."""
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(parameter.kind in positional for parameter in parameters)


_machine: Machine | None = None


def open_machine(limits: str, outlet: str, archives: str) -> None:
    """Called once per worker, after a snapshot was restored. ``outlet`` is a device's path.

    ``archives``: paths of zip files with packages that this agent may import, a JSON list.
    """
    global _machine
    # A snapshot's generator is every worker's; this takes a seed from the browser's random source.
    random.seed()
    sys.path += json.loads(archives)
    _machine = Machine(json.loads(limits), os.open(outlet, os.O_WRONLY))
    asyncio._set_running_loop(_machine._loop)
    confine()


def begin(name: str, text: str, store: str | None = None) -> str | None:
    """The host's way in for calls: see ``Machine.begin``."""
    assert _machine is not None
    return _machine.begin(name, text, store)


def enter(name: str, text: str) -> None:
    """The host's other ways in: load, settle or run."""
    assert _machine is not None
    if name == "run":
        _machine.run()
    else:
        getattr(_machine, name)(json.loads(text))
