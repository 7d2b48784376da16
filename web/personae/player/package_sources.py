"""From what a consumer names as ``package`` to a loaded package and the character's identity.

Reference: Initialization. A character is the same one as long as its link is; without a link, as
long as its contents are. Conversations belong to that identity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personae.bounded_json import load_json
from personae.errors import PackageError
from personae.package.load import load_package_async
from personae.package.model import Package
from personae.package.steps import Progress
from personae.player.environment import Environment

Contents = bytes | bytearray | Mapping[str, bytes]
"""A zip's bytes, or a package's files by path."""
Source = Package | str | bytes | Mapping[str, Any]


async def load_source(
    source: Source, environment: Environment, progress: Progress | None = None
) -> Package:
    """The package behind a source. Raises PackageError."""
    if isinstance(source, Package):
        return source
    if isinstance(source, str):
        contents: Contents = await fetch(source, environment, progress)
    else:
        contents = _files(source) if isinstance(source, Mapping) else source
    return await load_package_async(contents, progress, environment.install)


def character_id(source: Source | None, digest: str) -> str:
    """The identity that conversations and the library are filed under."""
    if not isinstance(source, str):
        return f"content-{digest[:32]}"
    from hashlib import blake2b

    return f"link-{blake2b(source.encode('utf-8', 'replace'), digest_size=16).hexdigest()}"


async def fetch(url: str, environment: Environment, progress: Progress | None = None) -> Contents:
    """A zip, or the files of a folder that serves ``files.json``."""

    def arrived(done: int, total: int | None) -> None:
        if progress is not None:
            progress("downloading", done, total or 0)

    if url.endswith("/"):
        return await _fetch_folder(url, environment)
    return await environment.fetch_package(url, arrived)


async def _fetch_folder(url: str, environment: Environment) -> dict[str, bytes]:
    def ignore(done: int, total: int | None) -> None:
        pass

    listing = bytes(await environment.fetch_package(f"{url}files.json", ignore))
    return {
        path: bytes(await environment.fetch_package(url + _quoted(path), ignore))
        for path in _paths(url, listing)
    }


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
