"""Names of files inside a package: what is junk, what is refused, where the root is.

A clean path is relative, uses ``/``, has no empty, ``.`` or ``..`` part, and is in Unicode
normal form C (macOS writes decomposed names; authors type composed ones).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_JUNK_FOLDERS = {"__macosx", ".git", ".svn"}
_JUNK_FILES = {".ds_store", "thumbs.db", "desktop.ini"}
_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class UnsafeName(ValueError):
    """The reason why a name is refused."""


def clean_path(name: str) -> str:
    """The clean form of a name from an archive or from config.json. Raises UnsafeName."""
    path = name.replace("\\", "/")
    if _CONTROL.search(path):
        raise UnsafeName("the name holds a control character")
    if path.startswith("/"):
        raise UnsafeName("the path is absolute; paths are relative to the package")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise UnsafeName("the path leaves the package with '..'")
    if not parts:
        raise UnsafeName("the path is empty")
    if _DRIVE.match(parts[0]):
        raise UnsafeName("the path names a drive; paths are relative to the package")
    return _composed("/".join(parts))


def is_junk(path: str) -> bool:
    """Whether a file is what operating systems and version control leave behind."""
    parts = path.replace("\\", "/").lower().split("/")
    if any(part in _JUNK_FOLDERS for part in parts):
        return True
    return parts[-1] in _JUNK_FILES or parts[-1].startswith("._")


def find_roots(paths: Iterable[str]) -> list[str]:
    """The shallowest folders with a config.json, each ``""`` or ending in ``/``; sorted.

    One is the package root, several are ambiguous, none means that this is no package.
    """
    found = [path[: -len("config.json")] for path in paths if _is_config(path)]
    depth = min((root.count("/") for root in found), default=0)
    return sorted(root for root in found if root.count("/") == depth)


def _is_config(path: str) -> bool:
    return path == "config.json" or path.endswith("/config.json")


def _composed(path: str) -> str:
    if path.isascii():
        return path
    import unicodedata

    return unicodedata.normalize("NFC", path)
