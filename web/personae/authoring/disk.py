"""Packages on disk, for the command line: a zip file or a project folder."""

from __future__ import annotations

import os
from pathlib import Path

from personae.package.archive.paths import is_junk
from personae.package.archive.unzip import MAX_INFLATED_BYTES
from personae.package.report import Report


def read_source(path: Path, report: Report) -> bytes | dict[str, bytes]:
    """A zip file's bytes, or a folder's files by their path in it. Faults go to the report."""
    try:
        return _read_folder(path, report) if path.is_dir() else path.read_bytes()
    except OSError as error:
        report.error(str(path), f"cannot be read: {error.strerror or error}")
        return {}


def _read_folder(folder: Path, report: Report) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    size = 0
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*names, *folders]):
            path = Path(parent, name)
            relative = path.relative_to(folder).as_posix()
            if is_junk(relative):
                continue
            if path.is_symlink():
                report.error(relative, "the entry is a symbolic link; put the file itself there")
            elif path.is_file():
                files[relative] = path.read_bytes()
                size += len(files[relative])
        if size > MAX_INFLATED_BYTES:
            limit = MAX_INFLATED_BYTES >> 20
            report.error(str(folder), f"the folder holds more than {limit} MiB")
            return files
    return files
