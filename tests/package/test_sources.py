"""What a consumer may name as ``package``."""

from __future__ import annotations

import json
from itertools import accumulate

import pytest
from personae.errors import PackageError
from personae.package.sources import character_id, load_source

from tests.player.support import World, make_player, package
from tests.storage.test_library import files, zipped


async def load(source, urls=None):
    world = World()
    world.urls = urls or {}
    return await load_source(source, world.environment().fetch_package)


async def test_every_kind_of_source_gives_the_same_package():
    texts = {path: data.decode() for path, data in files().items()}
    folder = "https://x.test/ada/"
    served = {f"{folder}{path}": data for path, data in files().items()}
    listing = json.dumps(list(texts)).encode()
    digests = {
        (await load(zipped(files()))).digest,
        (await load({"files": texts})).digest,
        (await load({"files": files()})).digest,
        (await load("https://x.test/ada.zip", {"https://x.test/ada.zip": zipped(files())})).digest,
        (await load(folder, {**served, f"{folder}files.json": listing})).digest,
        (
            await load(folder, {**served, f"{folder}files.json": b'{"files":' + listing + b"}"})
        ).digest,
    }
    assert len(digests) == 1
    loaded = package()
    assert await load(loaded) is loaded


async def test_names_of_a_folder_are_quoted_for_its_urls():
    folder = "https://x.test/a/"
    more = {**files(), "context/täglich #1.txt": b"x"}
    served = {f"{folder}{path}": data for path, data in files().items()}
    served[f"{folder}context/t%C3%A4glich%20%231.txt"] = b"x"
    served[f"{folder}files.json"] = json.dumps(list(more)).encode()
    assert (await load(folder, served)).context == {"täglich #1.txt": "x"}


@pytest.mark.parametrize(
    "listing",
    [b"not json", b'{"a": 1}', b'["../x"]', b'["/etc/x"]', b'["a//b"]', b'["a\\\\b"]', b"[1]"],
)
async def test_a_bad_file_list_is_refused(listing):
    with pytest.raises(PackageError) as caught:
        await load("https://x.test/a/", {"https://x.test/a/files.json": listing})
    assert caught.value.code == "bad_file_list"


async def test_an_object_without_files_is_refused():
    with pytest.raises(PackageError) as caught:
        await load({"path": "x"})
    assert caught.value.code == "bad_source"


def test_a_character_is_its_link_or_its_contents():
    assert character_id("https://x.test/a.zip", "d1") == character_id("https://x.test/a.zip", "d2")
    assert character_id("https://x.test/a.zip", "d") != character_id("https://x.test/b.zip", "d")
    assert character_id(None, "d1") != character_id(None, "d2")
    assert character_id({"files": {}}, "d1") == character_id(b"zip", "d1") == "content-d1"


async def test_ready_can_be_tried_again_after_a_failure_and_awaited_twice():
    world = World()
    world.urls = {"https://x.test/a.zip": b"no zip"}
    player = make_player(world, "https://x.test/a.zip")
    with pytest.raises(PackageError):
        await player.ready()
    world.urls["https://x.test/a.zip"] = zipped(files())
    await player.ready()
    await player.ready()
    assert player.package.name == "Ada"
    await player.dispose()


async def test_progress_of_a_download_is_told():
    world, steps = World(), []
    world.urls = {"https://x.test/a.zip": zipped(files())}
    fetch = world.environment().fetch_package
    await load_source("https://x.test/a.zip", fetch, progress=lambda *step: steps.append(step))
    size = len(world.urls["https://x.test/a.zip"])
    assert ("downloading", size, size) in steps


async def test_progress_of_a_folder_is_told_file_by_file():
    world, steps = World(), []
    folder, listing = "https://x.test/ada/", json.dumps(list(files())).encode()
    world.urls = {f"{folder}{path}": data for path, data in files().items()}
    world.urls[f"{folder}files.json"] = listing
    fetch = world.environment().fetch_package
    await load_source(folder, fetch, progress=lambda *step: steps.append(step))
    arrived = [done for phase, done, _ in steps if phase == "downloading"]
    assert arrived == list(accumulate(len(data) for data in files().values()))
