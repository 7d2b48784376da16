"""Loaded characters are kept with their files and open again."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile

import pytest
from personae.errors import PackageError, StorageError, UsageError
from personae.package.identity import may_be
from personae.package.sources import character_id
from personae.storage.leases import FILES, POLL, TRIES
from personae.storage.library import BATCH, Library

from tests.fakes import FakeClock, FakeLocks, FakeStorage

AGENT = """/**
 * @agent a.dice
 * @tool roll
 */
export function onToolCall() { return "4"; }
"""


def files(name="Ada", **more):
    texts = {
        "config.json": json.dumps({"name": name, "agents": ["a.dice"]}),
        "instructions.txt": "You are Ada.",
        "description.txt": "A mathematician.",
        "agents/a.dice.js": AGENT,
        **more,
    }
    return {path: text.encode() for path, text in texts.items()}


def zipped(contents, folder=""):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in contents.items():
            archive.writestr(folder + path, data)
    return buffer.getvalue()


def library_of(storage, locks=None):
    """The library of another tab."""
    return Library(storage, FakeClock(), (locks or FakeLocks()).lock)


@pytest.fixture
def storage():
    return FakeStorage()


@pytest.fixture
def library(storage):
    return library_of(storage)


async def test_a_zip_is_kept_and_opens_as_the_same_package(library):
    identity = await library.save(zipped(files(), "ada/"), "https://x.test/ada.zip")
    [listed] = await library.list()
    assert listed["id"] == identity
    assert (listed["name"], listed["description"]) == ("Ada", "A mathematician.")
    assert listed["source"] == "https://x.test/ada.zip"
    assert listed["size"] == sum(map(len, files().values()))
    assert "files" not in listed
    package = await library.open(identity)
    assert package.name == "Ada"
    assert package.digest == listed["digest"]
    assert [program.agent_id for program in package.agents] == ["a.dice"]


async def test_a_link_is_one_character_whatever_its_version_contents_without_one_are_another(
    library,
):
    one = await library.save(files(), "https://x.test/ada.zip")
    assert await library.save(files("Ada 2"), "https://x.test/ada.zip") == one
    assert [item["name"] for item in await library.list()] == ["Ada 2"]
    loose = await library.save(files())
    assert loose != one
    assert await library.save(zipped(files())) == loose


async def test_the_same_content_is_stored_once_and_goes_with_its_last_character(library, storage):
    one = await library.save(files(), "https://x.test/1.zip")
    two = await library.save(files("Bea"), "https://x.test/2.zip")
    assert len(storage.tables["files"]) == len(files()) + 1
    await library.remove(one)
    assert len(storage.tables["files"]) == len(files())
    assert (await library.open(two)).name == "Bea"
    await library.remove(two)
    assert storage.tables["files"] == {}
    assert await library.list() == []


async def test_an_update_drops_the_files_that_only_the_old_version_had(library, storage):
    await library.save(files(**{"context/old.txt": "old"}), "https://x.test/1.zip")
    await library.save(files(**{"context/new.txt": "new"}), "https://x.test/1.zip")
    assert b"old" not in storage.tables["files"].values()
    assert b"new" in storage.tables["files"].values()


async def test_the_last_opened_is_listed_first(library):
    clock = library._clock
    one = await library.save(files(), "https://x.test/1.zip")
    clock.time += 10
    two = await library.save(files("Bea"), "https://x.test/2.zip")
    assert [item["id"] for item in await library.list()] == [two, one]
    clock.time += 10
    await library.open(one)
    assert [item["id"] for item in await library.list()] == [one, two]


async def test_what_cannot_be_played_is_not_kept(library, storage):
    with pytest.raises(PackageError):
        await library.save({"config.json": b"{"})
    assert storage.commits == []


async def test_a_record_and_its_files_are_one_transaction(library, storage):
    await library.save(files())
    assert len(storage.commits) == 1


async def test_a_large_package_is_written_in_several_transactions_and_its_record_last(
    library, storage
):
    large = files() | {f"assets/{n}.bin": bytes([n]) * (BATCH // 2) for n in range(7)}
    identity = await library.save(large)
    assert len(storage.commits) > 2
    tables = [{write.table for write in commit} for commit in storage.commits]
    assert tables[:-1] == [{"files"}] * (len(tables) - 1)
    assert "packages" in tables[-1]
    opened = await library_of(storage).open(identity)
    assert opened == await library.open(identity)


async def test_a_large_package_that_does_not_fit_leaves_nothing_behind(library, storage):
    def full(writes):
        if any(write.table == "packages" for write in writes):
            raise StorageError("storage_full", "The disk is full.")

    storage.on_commit = full
    await library.save(files() | {f"assets/{n}.bin": bytes([n]) * BATCH for n in range(3)})
    assert storage.tables.get("files", {}) == {}


async def test_what_a_killed_tab_left_is_removed_unless_another_one_saves(storage):
    locks = FakeLocks()
    library = library_of(storage, locks)
    await library.save(files())
    kept = dict(storage.tables["files"])
    storage.tables["files"][("stray",)] = b"half of a package"
    await locks.lock(FILES)
    await library.tidy()
    assert ("stray",) in storage.tables["files"]
    locks.held.clear()
    await library.tidy()
    assert storage.tables["files"] == kept
    assert locks.held == set()


async def test_nothing_is_removed_while_a_record_is_damaged(library, storage):
    identity = await library.save(files())
    storage.tables["packages"][(identity,)] = "{broken"
    kept = dict(storage.tables["files"])
    await library.tidy()
    assert storage.tables["files"] == kept


async def test_a_package_waits_in_memory_while_another_tab_saves(storage):
    locks, clock = FakeLocks(), FakeClock()
    library = Library(storage, clock, locks.lock)
    await locks.lock(FILES)
    saving = asyncio.ensure_future(library.save(files()))
    await clock.advance(POLL * TRIES)
    identity = await saving
    assert library.is_unstored(identity)
    locks.held.clear()
    await library.list()
    assert not library.is_unstored(identity)


async def test_a_record_names_its_source_and_files_be_it_stored_or_in_memory(library, storage):
    link = "https://x.test/ada.zip"
    identity = await library.save(zipped(files()), link)
    stored = await library.find(identity)
    assert stored["source"] == link
    assert {item["path"] for item in stored["files"]} == set(files())
    storage.commit_fault = storage.read_fault = StorageError("storage_full", "no")
    other = "https://x.test/eve.zip"
    in_memory = await library.find(await library.save(zipped(files("Eve")), other))
    assert in_memory["source"] == other
    assert len(in_memory["files"]) == len(files())
    storage.read_fault = None
    assert await library.find("nobody") is None


async def test_unknown_and_incomplete_characters(library, storage):
    with pytest.raises(UsageError) as caught:
        await library.open("nobody")
    assert caught.value.code == "unknown_character"
    identity = await library.save(files())
    storage.tables["files"].popitem()
    with pytest.raises(StorageError) as missing:
        await library_of(storage).open(identity)
    assert missing.value.code == "file_missing"
    await library.remove("nobody")


async def test_a_package_that_cannot_be_kept_is_played_from_memory_and_kept_later(library, storage):
    storage.commit_fault = StorageError("storage_full", "Full.")
    identity = await library.save(zipped(files()))
    assert library.is_unstored(identity)
    assert (await library.open(identity)).name == "Ada"
    assert [item["id"] for item in await library.list()] == [identity]
    assert storage.tables == {}
    storage.commit_fault = None
    assert [item["id"] for item in await library.list()] == [identity]
    assert not library.is_unstored(identity)
    assert (await library.open(identity)).name == "Ada"


async def test_while_reads_fail_nothing_is_written_and_what_is_in_memory_is_listed(
    library, storage
):
    storage.read_fault = StorageError("storage_failed", "Broken.")
    with pytest.raises(StorageError):
        await library.list()
    identity = await library.save(zipped(files()))
    assert [item["id"] for item in await library.list()] == [identity]
    assert storage.commits == []


async def test_a_full_disk_keeps_no_stored_character_from_opening(library, storage):
    identity = await library.save(zipped(files()))
    storage.commit_fault = StorageError("storage_full", "Full.")
    assert (await library.open(identity)).name == "Ada"


@pytest.mark.parametrize("damage", ["{broken", "[]", '{"id": "x"}', '{"id": 5}', ""])
async def test_a_damaged_record_is_left_alone_with_its_files(library, storage, damage):
    identity = await library.save(zipped(files()))
    other = await library.save(zipped(files("Bea")))
    storage.tables["packages"][(identity,)] = damage
    kept = dict(storage.tables["files"])
    assert [item["id"] for item in await library.list()] == [other]
    assert library.damaged == 1
    await library.remove(other)
    assert storage.tables["files"] == kept, "files that the damaged record may name"
    assert storage.tables["packages"] == {(identity,): damage}


# Which character a package is


@pytest.mark.parametrize(
    ("source", "identity", "possible"),
    [
        (None, f"content-{'0' * 32}", True),
        (None, f"link-{'0' * 32}", False),
        (None, "content-../..", False),
        ("folder:project", f"link-{'a' * 32}", True),
        ("https://x.test/ada.zip", f"link-{'a' * 32}", False),
        ("https://x.test/ada.zip", character_id("https://x.test/ada.zip", ""), True),
    ],
)
def test_an_identity_from_elsewhere_has_to_be_possible(source, identity, possible):
    assert may_be({"source": source, "id": identity, "name": "Ada"}) is possible


async def test_what_became_a_next_version_is_in_a_backup_as_well(library, storage):
    yes, _ = asking(True)
    one = await library.save(version(1), is_next=yes)
    two = await library.save(version(1, name="Bea"), "folder:project", is_next=yes)
    await library.save(version(2), known_as=one)
    await library.save(version(2, name="Eve"), "folder:project", known_as=two)
    for row in await library.list():
        assert may_be(row)


def asking(answer):
    """Answers whether a package is the next version, and notes of whom it was asked."""
    asked = []

    async def is_next(before):
        asked.append(before["name"])
        return answer

    return is_next, asked


def version(number, name="Ada", author="Lady Byron"):
    config = {"name": name, "author": author, "agents": ["a.dice"]}
    return files(**{"config.json": json.dumps(config), "instructions.txt": f"Version {number}."})


async def test_the_next_version_of_a_file_is_asked_about_once_and_keeps_its_identity(library):
    yes, asked = asking(True)
    one = await library.save(zipped(version(1)), is_next=yes)
    assert await library.save(zipped(version(2)), is_next=yes) == one
    assert await library.save(zipped(version(2)), is_next=yes) == one
    assert asked == ["Ada"]
    assert (await library.open(one)).instructions == "Version 2."
    assert len(await library.list()) == 1


async def test_versions_that_are_kept_apart_are_not_asked_about_again(library):
    no, asked = asking(False)
    one = await library.save(version(1), is_next=no)
    two = await library.save(version(2), is_next=no)
    assert one != two
    assert await library.save(version(1), is_next=no) == one
    assert await library.save(version(2), is_next=no) == two
    assert asked == ["Ada"]


@pytest.mark.parametrize(
    "other", [version(2, name="Bea"), version(2, author="Somebody"), files(name="Ada")]
)
async def test_another_name_or_author_is_another_character(library, other):
    yes, asked = asking(True)
    one = await library.save(version(1), is_next=yes)
    assert await library.save(other, is_next=yes) != one
    assert asked == []


async def test_a_record_of_before_authors_were_stored_goes_by_its_name(library, storage):
    yes, asked = asking(True)
    one = await library.save(version(1), is_next=yes)
    record = storage.json("packages")[one,]
    del record["author"]
    storage.tables["packages"][one,] = json.dumps(record)
    assert await library_of(storage).save(version(2), is_next=yes) == one
    assert asked == ["Ada"]


async def test_folders_of_one_name_are_two_characters_and_stay_so(library):
    no, asked = asking(False)
    ada = await library.save(version(1), "folder:project", is_next=no)
    bea = await library.save(version(1, name="Bea"), "folder:project", is_next=no)
    assert (ada != bea, asked) == (True, ["Ada"])
    assert await library.save(version(2), "folder:project", is_next=no) == ada
    assert await library.save(version(2, name="Bea"), "folder:project", is_next=no) == bea
    assert asked == ["Ada"]
    assert {row["source"] for row in await library.list()} == {"folder:project"}


async def test_a_folder_whose_character_got_another_name_keeps_its_identity(library):
    yes, asked = asking(True)
    ada = await library.save(version(1), "folder:project", is_next=yes)
    assert await library.save(version(2, name="Bea"), "folder:project", is_next=yes) == ada
    assert asked == ["Ada"]
    assert await library.save(version(3, name="Eve"), "folder:project", known_as=ada) == ada
    [row] = await library.list()
    assert row["name"] == "Eve"


async def test_a_link_is_never_asked_about(library):
    yes, asked = asking(True)
    await library.save(version(1), is_next=yes)
    await library.save(version(2), "https://x.test/ada.zip", is_next=yes)
    assert (asked, len(await library.list())) == ([], 2)


async def test_a_removed_character_comes_back_as_it_was(library, storage):
    identity = await library.save(version(1), "https://x.test/ada.zip")
    other = await library.save(version(2))
    before = {name: dict(table) for name, table in storage.tables.items()}
    removed = await library.keep_for_undo(identity)
    await library.remove(identity)
    assert len(await library.list()) == 1
    await library.bring_back(removed)
    assert storage.tables == before
    assert (await library.open(identity)).instructions == "Version 1."
    assert (await library.open(other)).instructions == "Version 2."


async def test_a_character_that_was_loaded_again_stays_when_its_removal_is_undone(library):
    link = "https://x.test/ada.zip"
    identity = await library.save(version(1), link)
    removed = await library.keep_for_undo(identity)
    await library.remove(identity)
    assert await library.save(version(2), link) == identity
    await library.bring_back(removed)
    assert (await library.open(identity)).instructions == "Version 2."
