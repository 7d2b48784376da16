"""Loading as a whole: sources, digest, responsiveness, and hostile bytes."""

from __future__ import annotations

import asyncio
import json
import random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import PackageError
from personae.package.load import load_package_async
from personae.package.report import SHOWN, describe
from personae.package.steps import SLICE_SECONDS

from tests.package.package_support import (
    GREETER,
    only_problem,
    package,
    problems_of,
    with_files,
    zipped,
)
from tests.package.support import load_package

FULL = with_files(
    package({"name": "Ada", "agents": ["park.greeter"]}),
    {
        "agents/park.greeter.js": GREETER,
        "context/a.txt": "fact",
        "park.greeter.agent.json": "{}",
    },
)


def test_zip_mapping_and_wrapped_zip_are_the_same_package():
    loaded = load_package(FULL)
    wrapped = {f"Ada/{name}": data for name, data in reversed(FULL.items())}
    assert loaded.digest
    assert load_package(zipped(FULL)) == loaded
    assert load_package(memoryview(zipped(wrapped))) == loaded
    assert load_package(wrapped) == loaded


async def test_async_is_the_same():
    assert await load_package_async(zipped(FULL)) == load_package(FULL)
    with pytest.raises(PackageError):
        await load_package_async(b"")


def test_the_digest_tells_contents_apart():
    digests = {
        load_package(files).digest
        for files in (
            package(),
            with_files(package(), {"context/a": "bc"}),
            with_files(package(), {"context/ab": "c"}),
            with_files(package(), {"context/a": "b", "context/c": ""}),
        )
    }
    assert len(digests) == 4


@pytest.mark.parametrize("name", ["../a", "/a", "C:/a", "a\0"])
def test_a_mapping_is_held_to_the_same_rules(name: str):
    assert only_problem({**package(), name: b""}).file == name


def test_a_mapping_may_not_hold_a_name_twice():
    assert only_problem({**package(), "x/a": b"1", "x\\a": b"2"}).file == "x/a"


def test_an_empty_source_says_so():
    assert "holds no files" in only_problem({}).message
    assert "empty" in only_problem(b"").message


def test_long_lists_are_cut_in_the_message_only():
    files = {**package(), **{f"../{number}": b"" for number in range(SHOWN + 7)}}
    with pytest.raises(PackageError, match="and 7 more") as caught:
        load_package(files)
    assert len(caught.value.detail["problems"]) == SHOWN + 7


def test_the_details_of_an_error_are_json():
    with pytest.raises(PackageError) as caught:
        load_package(with_files(package({"name": 1}), {}))
    assert json.loads(json.dumps(caught.value.detail)) == {
        "problems": [
            {
                "severity": "error",
                "file": "config.json",
                "message": "name must be string, is integer",
                "line": 1,
                "column": 10,
            }
        ]
    }


def test_problems_describe_themselves():
    files = with_files(package({"name": 1}), {"intro.txt": b"\xff"})
    assert [describe(problem) for problem in problems_of(files)] == [
        "config.json:1:10: name must be string, is integer",
        "intro.txt: byte 0xff at offset 0 is not UTF-8; save the file as UTF-8",
    ]


async def test_a_large_package_leaves_the_loop_its_turns():
    """What a page sees: between two turns of the loop about a slice of work."""
    noise = random.Random(1)
    texts = {
        f"context/{number}.txt": (noise.randbytes(6000).hex() + "\n") * 2 for number in range(800)
    }
    source = zipped(with_files(package(), texts))
    waits: list[float] = []
    progress: list[tuple[str, int, int]] = []
    loading = asyncio.create_task(load_package_async(source, lambda *step: progress.append(step)))
    while not loading.done():
        start = process_time()
        await asyncio.sleep(0)
        waits.append(process_time() - start)
    assert len((await loading).context) == 800
    assert len(waits) > 5
    assert sorted(waits)[len(waits) // 2] < 3 * SLICE_SECONDS
    assert {phase for phase, _, _ in progress} <= {"reading", "decoding", "agents", "hashing"}


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_mutated_archives_load_or_are_refused(data: st.DataObject):
    """Never anything but PackageError, whatever the bytes say."""
    archive = bytearray(ARCHIVE)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(archive) - 1))
        archive[at] = data.draw(st.sampled_from([0, 1, 0x50, 0x7F, 0xFF]) | st.integers(0, 255))
    try:
        load_package(bytes(archive))
    except PackageError as error:
        assert error.detail["problems"]


@given(st.binary(max_size=60), st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=100, deadline=None)
def test_spliced_archives_load_or_are_refused(piece: bytes, start: int, length: int):
    try:
        load_package(ARCHIVE[:start] + piece + ARCHIVE[start + length :])
    except PackageError as error:
        assert error.detail["problems"]


ARCHIVE = zipped(FULL)
