"""Fetched packages kept on disk, so that a popular one is downloaded once.

Invariants: nothing is served without the other server's word that it is unchanged, so whoever
may not fetch a package does not get it from here either; an entry is one file that appears
whole by a rename, so any number of processes may share the folder; a full or broken disk only
turns caching off. File names are hashes: a URL can hold a secret.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from anyio.to_thread import run_sync
from personae.errors import UsageError

from personae_server import metrics
from personae_server.streaming import Chunks

log = logging.getLogger(__name__)

CHUNK = 256 * 1024
MAX_WRITERS = 4
"""Per process; what is being written comes on top of the size the cache is held to."""
ABANDONED_SECONDS = 3600


class Entry:
    """An open entry; stays readable when the cache drops it meanwhile. Close it."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        try:
            self.validators: dict[str, str] = json.loads(self._file.readline())
            self.size = os.fstat(self._file.fileno()).st_size - self._file.tell()
            os.utime(path)
        except BaseException:
            self._file.close()
            raise

    async def chunks(self) -> Chunks:
        while chunk := await run_sync(self._file.read, CHUNK):
            yield chunk

    def close(self) -> None:
        self._file.close()


class PackageCache:
    """The entries of one folder, held to ``limit`` bytes by dropping the least recently used.

    Raises UsageError (``cache_folder``) when there can be no such folder.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._writers = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"The cache folder {folder} cannot be made: {error.strerror}"
            raise UsageError("cache_folder", message) from error

    def find(self, url: str) -> Entry | None:
        try:
            return Entry(self._path(url))
        except (OSError, ValueError):
            return None

    async def storing(
        self, url: str, validators: Mapping[str, str], chunks: AsyncIterator[bytes]
    ) -> Chunks:
        """Passes ``chunks`` on and keeps them if they end well."""
        if not validators or self._writers >= MAX_WRITERS:
            async for chunk in chunks:
                yield chunk
            return
        self._writers += 1
        draft = _Draft(self.folder)
        try:
            await run_sync(draft.begin, validators)
            async for chunk in chunks:
                await run_sync(draft.write, chunk)
                yield chunk
            await run_sync(draft.finish, self._path(url))
            await run_sync(self._shrink)
        finally:
            self._writers -= 1
            draft.discard()

    def _path(self, url: str) -> Path:
        return self.folder / f"{hashlib.sha256(url.encode()).hexdigest()}.package"

    def _shrink(self) -> None:
        """Drops what was not used for longest until the folder holds at most ``limit``."""
        found = []
        for path in _listed(self.folder):
            with suppress(OSError):
                found.append((path.stat().st_mtime, path.stat().st_size, path))
        total = sum(size for _, size, _ in found)
        for modified, size, path in sorted(found):
            abandoned = path.suffix == ".draft" and modified < time.time() - ABANDONED_SECONDS
            if abandoned or (path.suffix == ".package" and total > self.limit):
                total -= size
                with suppress(OSError):
                    path.unlink()


def _listed(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


class _Draft:
    """A file being written; after the first failure it only swallows."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{secrets.token_hex(8)}.draft"
        self._file: IO[bytes] | None = None

    def begin(self, validators: Mapping[str, str]) -> None:
        try:
            self._file = self.path.open("xb")
        except OSError as error:
            self._fail(error)
        self.write(json.dumps(dict(validators)).encode() + b"\n")

    def write(self, chunk: bytes) -> None:
        if self._file is None:
            return
        try:
            self._file.write(chunk)
        except OSError as error:
            self._fail(error)

    def finish(self, target: Path) -> None:
        if self._file is None:
            return
        try:
            self._file.flush()
            # The name must not come to be before the content, should the machine stop.
            os.fsync(self._file.fileno())
            self._file.close()
            self.path.replace(target)
            metrics.CACHE.labels("stored").inc()
        except OSError as error:
            self._fail(error)

    def discard(self) -> None:
        """Removes what was not finished; harmless after ``finish``."""
        with suppress(OSError):
            if self._file is not None:
                self._file.close()
        with suppress(OSError):
            self.path.unlink()

    def _fail(self, error: OSError) -> None:
        metrics.CACHE.labels("failed").inc()
        log.warning("the package cache cannot write: %s", error.strerror)
        self.discard()
        self._file = None
