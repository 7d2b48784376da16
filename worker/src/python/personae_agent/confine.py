"""Takes away what leads from Python to JavaScript, before an agent is there.

This keeps honest mistakes and simple tricks out; it is not the wall. Python keeps no secrets from
code that runs in it: who digs out a JavaScript object finds a worker whose origin may connect to
nothing and store nothing.
"""

from __future__ import annotations

import sys

_FORBIDDEN = {
    "js", "pyodide_js", "pyodide", "_pyodide", "_pyodide_core",  # JavaScript
    "ctypes", "_ctypes",  # the runtime's own C functions
}  # fmt: skip


class _Refuser:
    """The first finder: says why these modules are not there."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in _FORBIDDEN:
            raise ModuleNotFoundError(f"agents cannot import {name}", name=name)


def confine() -> None:
    """Called once per worker, last thing before the agent loads."""
    foreign = [finder for finder in sys.meta_path if _is_foreign(type(finder))]
    for finder in foreign:
        _empty(finder)
        sys.meta_path.remove(finder)
    sys.meta_path.insert(0, _Refuser)
    for name in [name for name in sys.modules if name.partition(".")[0] in _FORBIDDEN]:
        module = sys.modules.pop(name)
        _empty(getattr(module, "__loader__", None))
        _forget_proxies(getattr(module, "__dict__", {}))


def _is_foreign(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in _FORBIDDEN


def _empty(keeper: object) -> None:
    """Finder and loaders of JavaScript modules hold the objects themselves."""
    if not _is_foreign(type(keeper)):
        return
    for value in vars(keeper).values():
        if isinstance(value, dict):
            value.clear()
    vars(keeper).clear()


def _forget_proxies(names: dict[str, object]) -> None:
    """Functions of these modules live on in the runtime; what they reach by name goes."""
    for name in [name for name, value in names.items() if type(value).__name__ == "JsProxy"]:
        del names[name]
