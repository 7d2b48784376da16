"""The package's own data files, from a folder, an archive, or memory that the build has kept.

Invariant: after ``keep_all`` no file is read any more, so that a page started from a snapshot
needs no archive of the player.
"""

from __future__ import annotations

import pkgutil

_kept: dict[str, str] = {}

# Everything there is to read; a test compares it with the folder.
NAMES = (
    "builtin/studio.agent-db.js",
    "builtin/studio.context-access.js",
    "builtin/studio.history-search.js",
    "builtin/studio.memory-store.js",
    "builtin/studio.sub-agent.js",
    "package/config.schema.json",
    "package/plain-parameters.schema.json",
    "package/subagent.schema.json",
    "protocol.json",
)


def text(name: str) -> str:
    """A data file by its path in the package. Raises KeyError when there is no such file."""
    if name not in NAMES:
        raise KeyError(name)
    if name not in _kept:
        data = pkgutil.get_data("personae", name)
        assert data is not None
        _kept[name] = data.decode("utf-8")
    return _kept[name]


def keep_all() -> None:
    """Reads every file now."""
    for name in NAMES:
        text(name)
