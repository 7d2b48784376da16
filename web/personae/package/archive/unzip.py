"""Zip bytes to ``{path: bytes}``, distrusting every claim of the archive.

Junk is dropped first. Then every entry is judged by its name and headers, all faults at once;
only an archive without a fault is inflated, and what is produced is counted while it is
produced, so that memory never exceeds the limits below whatever the headers claim.
"""

from __future__ import annotations

import io
import stat
import zlib
from collections.abc import Generator

from personae.package.archive.paths import UnsafeName, clean_path, is_junk
from personae.package.archive.zip_directory import (
    FLAG_ENCRYPTED,
    FLAG_MASKED,
    FLAG_PATCH,
    FLAG_STRONG,
    Archive,
    Entry,
    ZipFault,
    data_span,
    read_directory,
)
from personae.package.report import Report
from personae.package.steps import Step, Steps

MAX_ARCHIVE_BYTES = 64 << 20
MAX_INFLATED_BYTES = 256 << 20
"""All files of a package together."""
MAX_FILE_BYTES = 32 << 20
"""One file: what can be decoded and hashed without a long pause."""
INFLATION_FLOOR = 16 << 20
INFLATION_RATIO = 100
"""An archive may inflate to the floor plus this many times its own size: text and code stay
far below, a bomb does not."""

_IN = 1 << 16
_OUT = 1 << 18
_EACH = 256
"""Headers judged in one step."""
_STORED = 0
_DEFLATED = 8
_METHODS = {
    9: "deflate64",
    12: "bzip2",
    14: "LZMA",
    20: "Zstandard",
    93: "Zstandard",
    95: "XZ",
    98: "PPMd",
    99: "AES encryption",
}


class _Spent(Exception):
    """The limit on inflated bytes is reached; says so in words."""


def read_files(data: Archive, report: Report) -> Steps[dict[str, bytes]]:
    """The files of an archive by clean path, the wrapping folder still there.

    Everything wrong goes to ``report``; raises PackageError when something does.
    """
    entries, directory = yield from _directory(data, report)
    kept = yield from _judge(entries, report, MAX_FILE_BYTES)
    spans = yield from _spans(data, kept, directory, report)
    report.stop_on_errors()
    files = yield from _inflate_all(data, kept, spans, report)
    report.stop_on_errors()
    return files


def read_readable(data: Archive, report: Report) -> Steps[dict[str, bytes]]:
    """As ``read_files``, but an entry with a fault is reported and left out, and one file may be
    as large as all together.

    Raises PackageError when the archive as a whole cannot be read.
    """
    entries, directory = yield from _directory(data, report)
    kept = yield from _judge(entries, report, MAX_INFLATED_BYTES)
    kept = _sound(kept, report)
    spans = yield from _spans(data, kept, directory, report)
    return (yield from _inflate_all(data, _sound(kept, report), spans, report))


def _directory(data: Archive, report: Report) -> Steps[tuple[list[Entry], int]]:
    if len(data) > MAX_ARCHIVE_BYTES:
        report.error("", f"the zip file is larger than {_mebibytes(MAX_ARCHIVE_BYTES)}")
        report.stop_on_errors()
    try:
        return (yield from read_directory(data))
    except ZipFault as fault:
        report.error("", str(fault))
    raise report.failure()


def _sound(kept: dict[str, Entry], report: Report) -> dict[str, Entry]:
    faulty = {problem.file for problem in report.errors}
    return {path: entry for path, entry in kept.items() if path not in faulty}


def _judge(entries: list[Entry], report: Report, largest: int) -> Steps[dict[str, Entry]]:
    """The entries that are files, by clean path."""
    kept: dict[str, Entry] = {}
    for number, entry in enumerate(entries):
        if number % _EACH == 0:
            yield "reading", number, len(entries)
        if is_junk(entry.name):
            continue
        path = _judge_entry(entry, report, largest)
        if path is None:
            continue
        if path in kept:
            report.error(path, "the archive holds this name twice")
        kept[path] = entry
    return kept


def _judge_entry(entry: Entry, report: Report, largest: int) -> str | None:
    """The clean path of a file; None for a folder or what is refused."""
    folder = entry.name.endswith(("/", "\\"))
    try:
        path = clean_path(entry.name)
    except UnsafeName as reason:
        report.error(entry.name, str(reason))
        return None
    if folder:
        return None
    fault = _fault(entry, largest)
    if fault:
        report.error(path, fault)
    return path


def _fault(entry: Entry, largest: int) -> str | None:
    kind = stat.S_IFMT(entry.mode)
    if kind == stat.S_IFLNK:
        return "the entry is a symbolic link; pack the file itself"
    if kind not in (0, stat.S_IFREG):
        return "the entry is neither a file nor a folder"
    if entry.flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED):
        return "the entry is encrypted; pack it without a password"
    if entry.method not in (_STORED, _DEFLATED) or entry.flags & FLAG_PATCH:
        method = _METHODS.get(entry.method, f"method {entry.method}")
        return f"the entry is compressed with {method}; pack it with deflate"
    if entry.size > largest:
        return f"the file is larger than {_mebibytes(largest)}"
    if entry.method == _STORED and entry.size != entry.packed:
        return "the entry is stored, yet has two different sizes"
    return None


def _spans(
    data: Archive, kept: dict[str, Entry], directory: int, report: Report
) -> Steps[dict[str, tuple[int, int]]]:
    """Where each entry's bytes are; entries that share bytes are refused."""
    spans: dict[str, tuple[int, int]] = {}
    covered = 0
    in_file_order = sorted(kept.items(), key=lambda item: item[1].offset)
    for number, (path, entry) in enumerate(in_file_order):
        if number % _EACH == 0:
            yield "reading", number, len(kept)
        try:
            start, end = data_span(data, entry)
        except ZipFault as fault:
            report.error(path, str(fault))
            continue
        if entry.offset < covered or end > directory:
            report.error(path, "the entry overlaps another part of the archive")
        covered = max(covered, end)
        spans[path] = (start, end)
    return spans


def _inflate_all(
    data: Archive, kept: dict[str, Entry], spans: dict[str, tuple[int, int]], report: Report
) -> Steps[dict[str, bytes]]:
    files: dict[str, bytes] = {}
    budget = min(MAX_INFLATED_BYTES, INFLATION_FLOOR + INFLATION_RATIO * len(data))
    announced = sum(entry.size for entry in kept.values())
    produced = 0
    for path, entry in kept.items():
        chunks = _chunks(data, entry, spans[path])
        try:
            files[path] = yield from _collect(chunks, entry, budget, produced, announced)
        except _Spent as reason:
            report.error(path, str(reason))
            break
        except (ZipFault, zlib.error) as fault:
            report.error(path, f"the entry is damaged: {fault}")
        produced += len(files.get(path, b""))
    return files


def _collect(
    chunks: Generator[bytes, None, None], entry: Entry, budget: int, before: int, announced: int
) -> Steps[bytes]:
    """One file, its bytes counted as they come."""
    buffer = io.BytesIO()
    crc = 0
    for chunk in chunks:
        buffer.write(chunk)
        crc = zlib.crc32(chunk, crc)
        if before + buffer.tell() > budget:
            raise _Spent(f"the archive inflates to over {_mebibytes(budget)}, which is refused")
        if buffer.tell() > entry.size:
            raise ZipFault("it holds more bytes than the archive says")
        step: Step = ("reading", before + buffer.tell(), announced)
        yield step
    if buffer.tell() != entry.size or crc != entry.crc:
        raise ZipFault("its length or checksum is not what the archive says")
    return buffer.getvalue()


def _chunks(data: Archive, entry: Entry, span: tuple[int, int]) -> Generator[bytes, None, None]:
    start, end = span
    if entry.method == _STORED:
        for offset in range(start, end, _OUT):
            yield bytes(data[offset : min(end, offset + _OUT)])
        return
    decoder = zlib.decompressobj(-zlib.MAX_WBITS)
    for offset in range(start, end, _IN):
        packed = data[offset : min(end, offset + _IN)]
        while chunk := decoder.decompress(packed, _OUT):
            yield chunk
            packed = decoder.unconsumed_tail
    if not decoder.eof or decoder.unused_data:
        raise ZipFault("its compressed data does not end where the archive says")


def _mebibytes(count: int) -> str:
    return f"{count / (1 << 20):.0f} MiB"
