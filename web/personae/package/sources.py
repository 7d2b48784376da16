"""From what a consumer names as ``package`` to a loaded package and the character's identity.

Reference: Initialization. A character is the same one as long as its link is; without a link, as
long as its contents are. Conversations belong to that identity.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from personae.bounded_json import load_json
from personae.errors import PackageError
from personae.package.load import load_package_async
from personae.package.model import Package
from personae.package.steps import Install, Progress

Contents = bytes | bytearray | Mapping[str, bytes]
"""A zip's bytes, or a package's files by path."""
Source = Package | str | bytes | Mapping[str, Any]
Arrived = Callable[[int, int | None], None]
"""Gets the bytes that have arrived and, where known, the bytes to come in all."""
Fetch = Callable[[str, Arrived], Awaitable[bytes | bytearray]]
"""The bytes behind a URL. Raises PackageError."""


async def load_source(
    source: Source,
    fetch: Fetch,
    install: Install | None = None,
    progress: Progress | None = None,
) -> Package:
    """The package behind a source. Raises PackageError."""
    if isinstance(source, Package):
        return source
    return await load_package_async(await contents_of(source, fetch, progress), progress, install)


async def contents_of(
    source: str | bytes | bytearray | Mapping[str, Any],
    fetch: Fetch,
    progress: Progress | None = None,
) -> Contents:
    """What a link leads to, a zip or a folder that serves ``files.json``, or what was given."""
    if isinstance(source, str):
        told = progress or _ignore
        return await (_folder if source.endswith("/") else _zip)(source, fetch, told)
    return _files(source) if isinstance(source, Mapping) else source


def character_id(source: Source | None, digest: str) -> str:
    """The identity that conversations and the library are filed under."""
    if not isinstance(source, str):
        return f"content-{digest[:32]}"
    from hashlib import blake2b

    return f"link-{blake2b(source.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


async def _zip(url: str, fetch: Fetch, progress: Progress) -> Contents:
    return await fetch(url, lambda done, total: progress("downloading", done, total or 0))


async def _folder(url: str, fetch: Fetch, progress: Progress) -> Contents:
    listing = bytes(await fetch(f"{url}files.json", _ignore_bytes))
    files: dict[str, bytes] = {}
    arrived = 0
    for path in _paths(url, listing):
        files[path] = bytes(await fetch(url + _quoted(path), _ignore_bytes))
        arrived += len(files[path])
        progress("downloading", arrived, 0)
    return files


def _ignore(phase: str, done: int, total: int) -> None:
    """For who does not want to hear of progress."""


def _ignore_bytes(done: int, total: int | None) -> None:
    """A folder's progress is told file by file."""


def _paths(url: str, listing: bytes) -> list[str]:
    try:
        found = load_json(listing)
    except ValueError:
        found = None
    paths = found.get("files") if isinstance(found, dict) else found
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise PackageError(
            "bad_file_list", f"{url}files.json is no JSON list of the package's file paths."
        )
    return paths


def _quoted(path: str) -> str:
    from urllib.parse import quote

    if path.startswith("/") or "\\" in path or ".." in path.split("/") or "//" in path:
        raise PackageError("bad_file_list", f"files.json names {path!r}, which leaves the folder.")
    return quote(path)


def _files(source: Mapping[str, Any]) -> dict[str, bytes]:
    files = source.get("files")
    if not isinstance(files, Mapping):
        raise PackageError("bad_source", "A package object is {files: {path: text or bytes}}.")
    return {
        str(path): data.encode("utf-8", "surrogatepass") if isinstance(data, str) else bytes(data)
        for path, data in files.items()
    }
