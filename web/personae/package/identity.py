"""Which character a package is: conversations and the library are filed under it.

A link is one character whatever it leads to. What comes without one, a file or a folder, is the
character whose contents or whose folder it is; a newer version has other contents, so that only
the user can say whose it is. Invariant: no package takes another one's place unasked, but for a
folder that holds the character of before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from personae.package.model import Package
from personae.package.sources import character_id

FOLDER = "folder:"
"""What the source of a project folder starts with; its name follows."""
_FROM_HERE = re.compile("link-[0-9a-f]{32}"), re.compile("content-[0-9a-f]{32}")
"""Identities of folders, and of files."""
Row = Mapping[str, Any]
"""A stored character: ``{id, name, author?, source, digest, openedAt}``."""


def author_of(package: Package) -> str:
    """Who made it, as its config says; empty when that does not."""
    author = package.config.get("author")
    return author if isinstance(author, str) else ""


def known(rows: Sequence[Row], source: str | None, package: Package) -> str | None:
    """The identity of a package that needs no question; None: ask about its ``predecessor``."""
    if source is not None and not source.startswith(FOLDER):
        return character_id(source, package.digest)
    for row in _newest_first(rows):
        if row["source"] == source and source is not None and _is_called(row, package):
            return str(row["id"])
        if row["source"] is None and source is None and row.get("digest") == package.digest:
            return str(row["id"])
    own = own_identity(rows, source, package)
    return own if any(row["id"] == own for row in rows) else None


def predecessor(rows: Sequence[Row], source: str | None, package: Package) -> Row | None:
    """The stored character that this may be the next version of: same name, or same folder."""
    for row in _newest_first(rows):
        if row["source"] is None and _is_called(row, package):
            return row
        if row["source"] == source and source is not None:
            return row
    return None


def own_identity(rows: Sequence[Row], source: str | None, package: Package) -> str:
    """The identity of a character that is none of the stored ones."""
    plain = character_id(source, package.digest)
    if source is None or all(row["id"] != plain for row in rows):
        return plain
    return _named_id(source, package.name, author_of(package))


def may_be(row: Row) -> bool:
    """Whether a record that came from elsewhere could have got its identity here.

    That of a file or a folder is the first version's, which the record no longer tells.
    """
    source, identity = row["source"], str(row["id"])
    if source is None or source.startswith(FOLDER):
        return _FROM_HERE[source is None].fullmatch(identity) is not None
    return identity == character_id(source, "")


def _named_id(source: str | None, name: str, author: str) -> str:
    return character_id(f"{source}\n{name}\n{author}", "")


def _is_called(row: Row, package: Package) -> bool:
    author = author_of(package)
    same_author: bool = row.get("author", author) == author  # early records do not name one
    return same_author and bool(row["name"] == package.name)


def _newest_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: int(row["openedAt"]), reverse=True)
