"""The central directory of a zip file: which entries there are and where their bytes lie.

Own code rather than ``zipfile`` for two reasons: that module reads a whole directory in one go
(seconds for a hostile one, on the page's only thread), and it accepts what this reader refuses
(bytes before the archive, entries that overlap, headers that disagree). Nothing here inflates.

Sizes come from the central directory; the header in front of each entry must agree with it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from personae.package.steps import Steps

Archive = bytes | bytearray
"""A zip file; nobody changes it while it is read."""

MAX_ENTRIES = 20_000
"""Entries of any kind; a real package has a few thousand at most."""

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_MAX_COMMENT = 0xFFFF
_BIG16 = 0xFFFF
_BIG32 = 0xFFFFFFFF
_ZIP64_EXTRA = 1

FLAG_ENCRYPTED = 0x0001
FLAG_DESCRIPTOR = 0x0008
FLAG_PATCH = 0x0020
FLAG_STRONG = 0x0040
FLAG_MASKED = 0x2000

_EACH = 256
"""Entries read in one step."""


class ZipFault(ValueError):
    """Why the archive as a whole cannot be read."""


@dataclass(frozen=True, slots=True)
class Entry:
    raw_name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    """Bytes in the archive."""
    size: int
    """Bytes once inflated, as the directory claims."""
    mode: int
    """Unix file mode, 0 when the archive has none."""
    offset: int
    """Of the header in front of the data."""

    @property
    def name(self) -> str:
        """UTF-8 where it decodes, whatever the flag says, else code page 437."""
        try:
            return self.raw_name.decode("utf-8")
        except UnicodeDecodeError:
            return self.raw_name.decode("cp437")


@dataclass(frozen=True, slots=True)
class _Directory:
    count: int
    start: int
    end: int


def read_directory(data: Archive) -> Steps[tuple[list[Entry], int]]:
    """All entries, and the offset at which the directory begins. Raises ZipFault."""
    directory = _find_directory(data)
    entries: list[Entry] = []
    offset = directory.start
    while offset < directory.end:
        if max(directory.count, len(entries) + 1) > MAX_ENTRIES:
            raise ZipFault(f"the archive has over {MAX_ENTRIES:,} entries")
        entry, offset = _central_entry(data, offset, directory.end)
        entries.append(entry)
        if len(entries) % _EACH == 0:
            yield "reading", len(entries), directory.count
    if len(entries) != directory.count:
        raise ZipFault(
            f"the archive announces {directory.count} entries and has {len(entries)}; "
            "it is damaged or truncated"
        )
    return entries, directory.start


def data_span(data: Archive, entry: Entry) -> tuple[int, int]:
    """Where the packed bytes of an entry begin and end.

    Raises ZipFault when the header in front of them disagrees with the directory.
    """
    if entry.offset + _LOCAL.size > len(data):
        raise ZipFault("its header lies outside the archive; the archive is truncated")
    fields = _LOCAL.unpack_from(data, entry.offset)
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = fields
    name_start = entry.offset + _LOCAL.size
    start = name_start + name_length + extra_length
    if signature != b"PK\x03\x04":
        raise ZipFault("no header where the directory says; the archive is damaged")
    if data[name_start : name_start + name_length] != entry.raw_name:
        raise ZipFault("its header gives another name than the directory")
    same_kind = method == entry.method and not (flags ^ entry.flags) & FLAG_ENCRYPTED
    sizes = ((crc, entry.crc), (packed, entry.packed), (size, entry.size))
    if not same_kind or not all(_agrees(here, there, flags) for here, there in sizes):
        raise ZipFault("its header and the directory disagree on method, sizes or checksum")
    return start, start + entry.packed


def _agrees(here: int, there: int, flags: int) -> bool:
    if here in (there, _BIG32):
        return True
    return here == 0 and bool(flags & FLAG_DESCRIPTOR)


def _find_directory(data: Archive) -> _Directory:
    end = data.rfind(b"PK\x05\x06", max(0, len(data) - _END.size - _MAX_COMMENT))
    if end < 0 or end + _END.size > len(data):
        raise ZipFault(_not_a_zip(data))
    _, disk, first_disk, here, count, size, start, _ = _END.unpack_from(data, end)
    if (disk not in (0, _BIG16)) or (first_disk not in (0, _BIG16)) or here != count:
        raise ZipFault("the archive is one part of several; join the parts first")
    directory = _Directory(count, start, start + size)
    if count == _BIG16 or _BIG32 in (size, start):
        directory, end = _find_directory64(data, end)
    if directory.end != end:
        raise ZipFault(
            "the archive's directory is not where it should be: the file is truncated, "
            "or there are bytes in front of the archive; fetch or export it again"
        )
    return directory


def _find_directory64(data: Archive, end: int) -> tuple[_Directory, int]:
    at = end - _END64_LOCATOR.size
    if at < 0 or data[at : at + 4] != b"PK\x06\x07":
        raise ZipFault("the archive's zip64 end record is missing")
    _, _, end64, disks = _END64_LOCATOR.unpack_from(data, at)
    if disks > 1:
        raise ZipFault("the archive is one part of several; join the parts first")
    if end64 + _END64.size > at or data[end64 : end64 + 4] != b"PK\x06\x06":
        raise ZipFault("the archive's zip64 end record is damaged")
    count, size, start = _END64.unpack_from(data, end64)[-3:]
    return _Directory(count, start, start + size), end64


def _central_entry(data: Archive, offset: int, limit: int) -> tuple[Entry, int]:
    if offset + _CENTRAL.size > limit or data[offset : offset + 4] != b"PK\x01\x02":
        raise ZipFault("the archive's directory is damaged")
    fields = _CENTRAL.unpack_from(data, offset)
    _, _, _, flags, method, _, _, crc, packed, size = fields[:10]
    name_length, extra_length, comment_length, _, _, attributes, header = fields[10:]
    name_end = offset + _CENTRAL.size + name_length
    after = name_end + extra_length + comment_length
    if after > limit:
        raise ZipFault("the archive's directory is damaged")
    name = bytes(data[name_end - name_length : name_end])
    extra = bytes(data[name_end : name_end + extra_length])
    size, packed, header = _widen(extra, (size, packed, header))
    return Entry(name, flags, method, crc, packed, size, attributes >> 16, header), after


def _widen(extra: bytes, values: tuple[int, int, int]) -> tuple[int, int, int]:
    """The 64-bit values of a zip64 extra field in place of those that were too large."""
    if _BIG32 not in values:
        return values
    wide = _zip64_values(extra)
    if len(wide) < values.count(_BIG32):
        raise ZipFault("the zip64 sizes of an entry are missing")
    size, packed, header = (wide.pop(0) if value == _BIG32 else value for value in values)
    return size, packed, header


def _zip64_values(extra: bytes) -> list[int]:
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == _ZIP64_EXTRA:
            body = extra[4 : 4 + length]
            return [value for (value,) in struct.iter_unpack("<Q", body[: len(body) & ~7])]
        extra = extra[4 + length :]
    return []


def _not_a_zip(data: Archive) -> str:
    """Says what the file seems to be instead."""
    head = data[:512].lstrip().lower()
    if not data:
        return "the file is empty"
    if head.startswith((b"<!doctype", b"<html", b"<?xml")):
        return "this is a web page, not a zip file; link to the file itself"
    for magic, kind in ((b"\x1f\x8b", "gzip"), (b"7z\xbc\xaf", "7-Zip"), (b"Rar!", "RAR")):
        if data.startswith(magic):
            return f"this is a {kind} file; packages are zip files"
    if data.startswith(b"PK"):
        return "the zip file is truncated; fetch or export it again"
    return "this is not a zip file"
