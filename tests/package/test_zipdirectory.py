"""What a hostile or broken archive claims about itself."""

from __future__ import annotations

import struct
import zipfile

import pytest
from personae.package.archive.zip_directory import MAX_ENTRIES, ZipFault, data_span, read_directory
from personae.package.steps import run

from tests.package.package_support import package, zipped

LOCAL_SIZES = 14
"""Offset of checksum and sizes in an entry's header."""


def entries_of(data: bytes):
    return run(read_directory(data))[0]


def test_lists_entries_in_order():
    names = [entry.name for entry in entries_of(zipped({"b": b"1", "a": b"22"}))]
    assert names == ["b", "a"]


def test_data_lies_where_the_span_says():
    data = zipped({"a": b"plain"}, zipfile.ZIP_STORED)
    start, end = data_span(data, entries_of(data)[0])
    assert data[start:end] == b"plain"


def test_name_is_code_page_437_when_it_is_not_utf8():
    data = zipped({"caf?.txt": b""}).replace(b"caf?.txt", b"caf\x82.txt")
    assert entries_of(data)[0].name == "café.txt"


def test_name_is_utf8_without_the_flag():
    data = zipped({"caf??.txt": b""}).replace(b"caf??.txt", "café.txt".encode())
    assert entries_of(data)[0].name == "café.txt"


def with_zip64_end(data: bytes, count: int) -> bytes:
    """The same archive, its end record replaced by a zip64 one and a locator."""
    at = data.rfind(b"PK\x05\x06")
    _, _, _, _, _, size, start, _ = struct.unpack("<4s4H2LH", data[at:])
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    big = 0xFFFFFFFF
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, big, big, 0)
    return data[:at] + end64 + locator + end


def test_reads_a_zip64_directory():
    data = with_zip64_end(zipped(package()), 2)
    assert [entry.name for entry in entries_of(data)] == ["config.json", "instructions.txt"]


def test_reads_zip64_sizes_in_an_entry():
    data = _zip64_entry()
    entry = entries_of(data)[0]
    assert (entry.size, entry.packed) == (5, 5)
    assert data_span(data, entry)[1] - data_span(data, entry)[0] == 5


def _zip64_entry() -> bytes:
    """One stored entry whose directory sizes live in a zip64 extra field."""
    name, body, big = b"a.txt", b"plain", 0xFFFFFFFF
    crc = 0x192062CF
    extra = struct.pack("<HHQQ", 1, 16, 5, 5)
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 45, 0, 0, 0, 33, crc, 5, 5, len(name), 0)
    start = len(local) + len(name) + len(body)
    central = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 45, 45, 0, 0, 0, 33, crc, big, big, 5, 20, 0, 0, 0, 0, 0
    )
    size = len(central) + len(name) + len(extra)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, size, start, 0)
    return local + name + body + central + name + extra + end


def broken(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


GOOD = zipped({"a.txt": b"text"})
END = GOOD.rfind(b"PK\x05\x06")
CENTRAL = GOOD.rfind(b"PK\x01\x02")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><title>Sign in</title>", "web page"),
        (b"\x1f\x8b rest", "gzip"),
        (b"hello", "not a zip"),
        (GOOD[: END - 3], "truncated"),
        (GOOD[:END] + GOOD[END + 4 :], "truncated"),
        (b"#!/bin/sh\n" + GOOD, "in front of the archive"),
        (broken(GOOD, END + 4, b"\x01\x00"), "one part of several"),
        (broken(GOOD, END + 10, b"\x02\x00"), "one part of several"),
        (broken(GOOD, END + 8, b"\x02\x00\x02\x00"), "announces 2 entries and has 1"),
        (broken(GOOD, CENTRAL, b"PK\x01\x09"), "directory is damaged"),
        (broken(GOOD, CENTRAL + 28, b"\xff\x7f"), "directory is damaged"),
        (broken(GOOD, END + 16, b"\xff\xff\xff\xff"), "zip64 end record is missing"),
        (broken(GOOD, CENTRAL + 20, b"\xff\xff\xff\xff"), "zip64 sizes"),
    ],
)
def test_refuses_a_broken_directory(data: bytes, reason: str):
    with pytest.raises(ZipFault, match=reason):
        entries_of(data)


@pytest.mark.parametrize(
    ("at", "value", "reason"),
    [
        (0, b"PK\x03\x09", "no header"),
        (30, b"b", "another name"),
        (8, b"\x00\x00", "disagree"),
        (6, b"\x01\x00", "disagree"),
        (LOCAL_SIZES, b"\x00\x00\x00\x00", "disagree"),
        (LOCAL_SIZES + 8, b"\x09", "disagree"),
    ],
)
def test_refuses_a_header_that_disagrees(at: int, value: bytes, reason: str):
    data = broken(GOOD, at, value)
    with pytest.raises(ZipFault, match=reason):
        data_span(data, entries_of(data)[0])


def test_refuses_a_header_outside_the_archive():
    data = broken(GOOD, CENTRAL + 42, struct.pack("<L", len(GOOD)))
    with pytest.raises(ZipFault, match="outside the archive"):
        data_span(data, entries_of(data)[0])


def test_nothing_is_read_when_too_many_entries_are_announced():
    data = with_zip64_end(GOOD, 1_000_000)
    at = data.find(b"PK\x01\x02")
    unreadable = data[:at] + b"????" + data[at + 4 :]
    with pytest.raises(ZipFault, match="over 20,000 entries"):
        entries_of(unreadable)


def test_stops_at_the_limit_however_few_entries_are_announced():
    central = struct.pack(
        "<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
    )
    directory = central * (MAX_ENTRIES + 1)
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 1, 1, len(directory), 0, 0)
    with pytest.raises(ZipFault, match="over 20,000 entries"):
        entries_of(directory + end)
