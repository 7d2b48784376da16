"""The files of a package, rebased to its root, read as text with every fault reported."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from personae.package.archive.paths import UnsafeName, clean_path, find_roots, is_junk
from personae.package.archive.text_file import TextFault, decode
from personae.package.archive.unzip import MAX_FILE_BYTES, MAX_INFLATED_BYTES, read_files
from personae.package.archive.zip_directory import MAX_ENTRIES
from personae.package.json_text import JsonFault, parse, place
from personae.package.report import Report
from personae.package.steps import Steps

Source = bytes | bytearray | memoryview | Mapping[str, bytes]
"""A zip file, or the files of a package by path."""


@dataclass(frozen=True, slots=True)
class PackageFiles:
    files: Mapping[str, bytes]
    """By clean path, relative to the folder of config.json."""
    report: Report

    def text(self, path: str) -> Steps[str | None]:
        """The text of a file; None when it is absent (silent) or no text (reported)."""
        data = self.files.get(path)
        if data is None:
            return None
        try:
            return (yield from decode(data))
        except TextFault as fault:
            self.report.error(path, str(fault))
            return None

    def small_text(self, path: str, limit: int) -> Steps[str | None]:
        """``text`` of a file of at most ``limit`` bytes; a larger one is reported."""
        if len(self.files.get(path, b"")) <= limit:
            return (yield from self.text(path))
        self.report.error(path, f"the file is larger than {limit >> 10:,} KiB")
        return None

    def json_object(self, path: str, limit: int) -> Steps[dict[str, Any] | None]:
        """The JSON object in a file; None when it is absent or something else (reported)."""
        text = yield from self.small_text(path, limit)
        if text is None:
            return None
        try:
            value = parse(text)
        except JsonFault as fault:
            self.report.error(path, fault.message, *place(text, fault.offset))
            return None
        if isinstance(value, dict):
            return value
        self.report.error(path, f"the file holds a JSON object, not {json.dumps(value)[:40]}", 1, 1)
        return None


def open_files(source: Source, report: Report) -> Steps[PackageFiles]:
    """Reads the archive or takes the mapping, then finds the root. Raises PackageError."""
    if isinstance(source, Mapping):
        found = _clean_mapping(source, report)
    else:
        data = bytes(source) if isinstance(source, memoryview) else source
        found = yield from read_files(data, report)
    root = _root(found, report)
    report.stop_on_errors()
    inside = {path[len(root) :]: data for path, data in found.items() if path.startswith(root)}
    return PackageFiles(inside, report)


def _clean_mapping(source: Mapping[str, bytes], report: Report) -> dict[str, bytes]:
    """Holds files that come from no archive to the same rules as an archive's."""
    found: dict[str, bytes] = {}
    for name, data in source.items():
        if is_junk(name) or name.endswith("/"):
            continue
        try:
            path = clean_path(name)
        except UnsafeName as reason:
            report.error(name, str(reason))
            continue
        if path in found:
            report.error(path, "the package holds this name twice")
        if len(data) > MAX_FILE_BYTES:
            report.error(path, f"the file is larger than {MAX_FILE_BYTES >> 20} MiB")
        found[path] = data
    if len(found) > MAX_ENTRIES or sum(map(len, found.values())) > MAX_INFLATED_BYTES:
        limit = f"{MAX_ENTRIES:,} files and {MAX_INFLATED_BYTES >> 20} MiB"
        report.error("", f"the package is larger than {limit}")
    return found


def _root(found: Mapping[str, bytes], report: Report) -> str:
    roots = find_roots(found)
    if len(roots) == 1:
        return roots[0]
    if roots:
        report.error("", "several folders could be the package: " + ", ".join(roots))
    elif not report.errors:
        report.error("config.json", _no_config(found))
    return ""


def _no_config(found: Mapping[str, bytes]) -> str:
    if not found:
        return "the package holds no files"
    zips = [path for path in found if path.lower().endswith(".zip")]
    if len(zips) == 1 and len(found) == 1:
        return f"the archive holds another archive, {zips[0]}; unpack it once and use that"
    near = [path for path in found if path.lower().endswith("config.json")]
    hint = f"; {near[0]} has another name" if near else ""
    return "there is no config.json, so this is no character package" + hint
