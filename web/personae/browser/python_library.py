"""Python's own library in a page that was started from a snapshot: fetched when it is missed.

Everything the player imports is in the snapshot; the library's archive (a good part of all bytes)
comes for what is installed later, or for an import that nobody foresaw.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

import personae_host

# In the same archive, beside the standard library.
_OTHERS = frozenset(("pyodide", "_pyodide", "_pyodide_core"))


class Watcher:
    """First on ``sys.meta_path``: hears of every import that memory cannot answer."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        top = name.partition(".")[0]
        if top in sys.builtin_module_names or not (
            top in _OTHERS or top in sys.stdlib_module_names
        ):
            return None
        sys.meta_path.remove(self)
        personae_host.libraryNow(name)
        return None


_watcher = Watcher()


def watch() -> None:
    """Called by the build before it keeps the memory."""
    sys.meta_path.insert(0, _watcher)


async def ready() -> None:
    """Returns when the library's archive is there."""
    await personae_host.library()
    if _watcher in sys.meta_path:
        sys.meta_path.remove(_watcher)
