"""From zip bytes to files: what is dropped, what is refused, and how much memory it takes."""

from __future__ import annotations

import io
import random
import stat
import struct
import tracemalloc
import zipfile
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import PackageError
from personae.package import steps as steps_of_work
from personae.package.archive import unzip
from personae.package.archive.unzip import read_files
from personae.package.report import Report
from personae.package.steps import run, run_async

from tests.package.package_support import only_problem, package, problems_of, zipped


def read(data: bytes) -> dict[str, bytes]:
    return run(read_files(data, Report()))


def refusal(data: bytes) -> list[tuple[str, str]]:
    with pytest.raises(PackageError) as caught:
        read(data)
    return [(one["file"], one["message"]) for one in caught.value.detail["problems"]]


def info(name: str, **facts: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
    for key, value in facts.items():
        setattr(entry, key, value)
    return entry


def archive_of(*entries: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for entry, data in entries:
            target.writestr(entry, data)
    return buffer.getvalue()


def test_reads_deflated_and_stored_files():
    files = {"a.txt": b"x" * 500_000, "sub/b.bin": bytes(range(256)), "empty": b""}
    assert read(zipped(files)) == files
    assert read(zipped(files, zipfile.ZIP_STORED)) == files


def test_reads_entries_with_data_descriptors():
    class Stream(io.BytesIO):
        def tell(self) -> int:
            raise OSError("a stream has no position")

    buffer = Stream()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a.txt", b"text" * 100)
    data = buffer.getvalue()
    assert data[6] & 8
    assert read(data) == {"a.txt": b"text" * 100}


def test_drops_what_operating_systems_leave_behind():
    junk = ["__MACOSX/._a", "._a", ".DS_Store", "sub/Thumbs.db", "desktop.ini", ".git/HEAD"]
    files = dict.fromkeys([*junk, "a.txt", "sub/.cars.json"], b"")
    assert list(read(zipped(files))) == ["a.txt", "sub/.cars.json"]


def test_junk_is_dropped_before_it_is_judged():
    junk = info("__MACOSX/../../._x")
    link = info("._link", external_attr=(stat.S_IFLNK | 0o777) << 16)
    assert read(archive_of((junk, b"x"), (link, b"y"), (info("a"), b"z"))) == {"a": b"z"}


def test_backslashes_separate_and_folders_are_no_files():
    data = zipped({"dir\\a.txt": b"1", "empty/": b"", "./b.txt": b"2"})
    assert read(data) == {"dir/a.txt": b"1", "b.txt": b"2"}


def test_names_are_composed():
    assert list(read(zipped({"cafe\u0301.txt": b""}))) == ["café.txt"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("../a", "leaves the package"),
        ("x/../../a", "leaves the package"),
        ("x\\..\\a", "leaves the package"),
        ("/a", "absolute"),
        ("\\\\server\\share", "absolute"),
        ("C:\\a", "drive"),
        ("c:a", "drive"),
        ("a\nb", "control character"),
    ],
)
def test_names_that_leave_the_package_are_refused(name: str, reason: str):
    [(file, message)] = refusal(zipped({name: b"", "ok": b""}))
    assert file == name
    assert reason in message


def test_a_nul_in_a_name_is_refused():
    data = zipped({"a?b": b""}).replace(b"a?b", b"a\0b")
    assert "control character" in refusal(data)[0][1]


def test_every_refusal_is_reported_at_once():
    data = archive_of(
        (info("../up"), b""),
        (info("link", external_attr=(stat.S_IFLNK | 0o777) << 16), b"target"),
        (info("pipe", external_attr=stat.S_IFIFO << 16), b""),
        (info("fine"), b""),
    )
    assert [file for file, _ in refusal(data)] == ["../up", "link", "pipe"]


def test_duplicate_names_are_refused_also_when_only_the_spelling_differs():
    assert refusal(zipped({"x/a": b"1", "x\\a": b"2"})) == [
        ("x/a", "the archive holds this name twice")
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_compression_is_refused_by_name(method: int):
    [(file, message)] = refusal(zipped({"a": b"text"}, method))
    assert file == "a"
    assert "pack it with deflate" in message


def patched(data: bytes, field: int, value: int, central: int, size: str = "<H") -> bytes:
    """The only entry's field changed in both headers; offsets within each header."""
    target = bytearray(data)
    struct.pack_into(size, target, field, value)
    struct.pack_into(size, target, data.rfind(b"PK\x01\x02") + central, value)
    return bytes(target)


def test_deflate64_and_encryption_are_refused():
    data = zipped({"a": b"text"})
    assert "deflate64" in refusal(patched(data, 8, 9, 10))[0][1]
    assert "without a password" in refusal(patched(data, 6, 1, 8))[0][1]


def test_a_wrong_checksum_is_refused_by_name():
    data = patched(zipped({"a": b"text"}), 14, 1, 16, "<L")
    assert refusal(data) == [
        ("a", "the entry is damaged: its length or checksum is not what the archive says")
    ]


def test_damaged_data_is_refused_by_name():
    data = bytearray(zipped({"a": b"text" * 50, "b": b"fine"}))
    data[31 : 31 + 4] = b"\xff\xff\xff\xff"
    assert [file for file, _ in refusal(bytes(data))] == ["a"]


def overlapping() -> bytes:
    """An entry whose stored bytes are another entry, the trick behind dense bombs."""
    inner = zipped({"b": b"text"}, zipfile.ZIP_STORED)
    record = inner[: inner.rfind(b"PK\x01\x02")]
    outer = zipped({"a": record}, zipfile.ZIP_STORED)
    at, end = outer.rfind(b"PK\x01\x02"), outer.rfind(b"PK\x05\x06")
    second = bytearray(inner[len(record) : inner.rfind(b"PK\x05\x06")])
    struct.pack_into("<L", second, 42, outer.find(record))
    directory = outer[at:end] + second
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), at, 0)
    return outer[:at] + directory + tail


def test_overlapping_entries_are_refused():
    assert refusal(overlapping()) == [("b", "the entry overlaps another part of the archive")]


def bomb(claimed: int, real: int) -> bytes:
    """An entry that claims one size and inflates to another."""
    data = zipped({"bomb.txt": b"\0" * real})
    return patched(data, 22, claimed, 24, "<L")


def test_an_entry_that_lies_about_its_size_is_refused():
    assert "more bytes than" in refusal(bomb(10, 1 << 20))[0][1]
    assert "checksum" in refusal(bomb(1 << 20, 10))[0][1]


def test_a_bomb_is_refused_with_flat_memory():
    data = zipped({f"{number}.txt": b"\0" * (8 << 20) for number in range(8)})
    tracemalloc.start()
    [(_, message)] = refusal(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "inflates to over" in message
    assert peak < unzip.INFLATION_FLOOR + unzip.INFLATION_RATIO * len(data) + (4 << 20)


def test_a_bomb_that_claims_little_is_refused_after_one_chunk():
    data = bomb(1000, 30 << 20)
    tracemalloc.start()
    refusal(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 << 20


def test_a_large_file_and_a_large_archive_are_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(unzip, "MAX_FILE_BYTES", 1000)
    assert refusal(zipped({"a": b"x" * 1001}))[0][0] == "a"
    monkeypatch.setattr(unzip, "MAX_ARCHIVE_BYTES", 50)
    assert "the zip file is larger" in refusal(zipped({"a": b""}))[0][1]


async def test_the_event_loop_gets_its_turn():
    """No step of a large archive runs for long, so every slice ends soon after its time."""
    files = {f"context/{number}.txt": b"0123456789abcdef" * 20_000 for number in range(60)}
    steps = read_files(zipped(files), Report())
    longest, last = 0.0, process_time()
    for _ in steps:
        longest, last = max(longest, process_time() - last), process_time()
    assert longest < 0.030


async def test_progress_is_reported_in_bytes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(steps_of_work, "SLICE_SECONDS", 0)
    seen: list[tuple[str, int, int]] = []
    noise = random.Random(1)
    files = {f"{number}.bin": noise.randbytes(500_000) for number in range(40)}
    steps = read_files(zipped(files), Report())
    got = await run_async(steps, lambda *step: seen.append(step))
    assert got == files
    assert seen
    assert all(phase == "reading" and 0 <= done <= total for phase, done, total in seen)
    assert seen == sorted(seen)


def test_a_wrapping_folder_is_the_root():
    wrapped = {f"Ada/{name}": data for name, data in package().items()}
    wrapped["readme.txt"] = b"outside"
    assert "readme.txt" not in run_load(wrapped)


def run_load(files: dict[str, bytes]) -> str:
    from tests.package.support import load_package

    loaded = load_package(zipped(files))
    assert loaded.instructions == "You keep the park."
    return str(loaded)


def test_two_candidates_for_the_root_are_named():
    files = {f"{root}/{name}": data for root in "ba" for name, data in package().items()}
    assert only_problem(zipped(files)).message == "several folders could be the package: a/, b/"


def test_no_config_says_so():
    assert problems_of(zipped({"readme.txt": b""}))[0].file == "config.json"
    assert "another archive" in only_problem(zipped({"ada.zip": b"PK"})).message


ORDINARY = zipped({"a.txt": b"some text, some text", "b/c.txt": bytes(range(200)), "d": b""})


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_what_is_read_from_mutated_bytes_is_what_zipfile_reads(data: st.DataObject):
    """Two readers that disagree on an archive are how one of them is tricked."""
    mutated = bytearray(ORDINARY)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(mutated) - 1))
        mutated[at] = data.draw(st.integers(0, 255))
    try:
        files = read(bytes(mutated))
    except PackageError:
        return
    try:
        with zipfile.ZipFile(io.BytesIO(mutated)) as other:
            contents = [other.read(entry) for entry in other.infolist()]
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError):
        return
    assert all(content in contents for content in files.values())
