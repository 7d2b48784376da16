"""What differs between two versions of a character. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Files = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Changes:
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]

    def text(self) -> str:
        """One sentence for people; empty when nothing changed."""
        kinds = (("Changed", self.changed), ("New", self.added), ("Gone", self.removed))
        return " ".join(f"{word}: {_listed(paths)}." for word, paths in kinds if paths)


def compare(before: Files, after: Files) -> Changes:
    """What differs between two stored file lists ({path, hash})."""
    old = {item["path"]: item["hash"] for item in before}
    new = {item["path"]: item["hash"] for item in after}
    return Changes(
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(path for path in new.keys() & old.keys() if new[path] != old[path])),
        tuple(sorted(old.keys() - new.keys())),
    )


def _listed(paths: Sequence[str], most: int = 6) -> str:
    more = len(paths) - most
    return ", ".join(paths[:most]) + (f" and {more} more" if more > 0 else "")
