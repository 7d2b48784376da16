"""Storage that fails for a while: nothing is lost, nothing is written after a failed read."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from personae.errors import BridgeError, StorageError
from personae.player.character_player import CharacterPlayer
from personae.ports import Caution, Delete, Put, StorageFails, StorageWorks
from personae.storage.saver import FIRST_RETRY, Saver

from tests.fakes import FakeClock, FakeNotifier, FakeStorage, breathe
from tests.player.support import World, agent, make_player, package, playing, roles


def full():
    return StorageError("storage_full", "Storage is full.")


def broken():
    return StorageError("storage_failed", "Storage failed.")


@pytest.fixture
def parts():
    storage, clock, notifier = FakeStorage(), FakeClock(), FakeNotifier()
    return Saver(storage, clock, notifier), storage, clock, notifier


def put(key, value="v"):
    return Put("entries", key, value)


async def test_a_write_returns_when_it_is_stored(parts):
    saver, storage, _, notifier = parts
    await saver.write([put(("c", "1"))])
    assert storage.tables["entries"] == {("c", "1"): "v"}
    assert notifier.notices == []


async def test_after_a_fault_writes_are_kept_in_order_and_saving_resumes_by_itself(parts):
    saver, storage, clock, notifier = parts
    storage.commit_fault = broken()
    await saver.write([put(("c", "1"), "a")])
    await saver.write([put(("c", "1"), "b"), put(("c", "2"))])
    await saver.write([Delete("entries", ("c", "2"))])
    assert saver.fault
    assert len(notifier.notices) == 1, "one banner for one fault"
    storage.commit_fault = None
    await clock.advance(FIRST_RETRY)
    assert storage.tables["entries"] == {("c", "1"): "b"}
    assert saver.fault is None
    assert notifier.notices[1:] == [StorageWorks()]


async def test_retries_back_off_to_half_a_minute(parts):
    saver, storage, clock, _ = parts
    tries = []
    storage.on_commit = lambda writes: tries.append(clock.now())
    storage.commit_fault = broken()
    await saver.write([put(("c", "1"))])
    await clock.advance(120_000)
    gaps = [later - earlier for earlier, later in pairwise(tries)]
    assert gaps == [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
    await saver.flush()


async def test_a_prefix_delete_drops_the_writes_it_covers(parts):
    saver, storage, clock, _ = parts
    storage.commit_fault = broken()
    await saver.write([put(("c", "1")), put(("d", "1"))])
    await saver.write([Delete("entries", ("c",), prefix=True), put(("c", "9"))])
    storage.commit_fault = None
    await clock.advance(FIRST_RETRY)
    assert sorted(storage.tables["entries"]) == [("c", "9"), ("d", "1")]


async def test_on_a_full_disk_deletions_go_first(parts):
    saver, storage, clock, _ = parts

    def full_unless_only_deletions(writes):
        storage.commit_fault = full() if any(isinstance(w, Put) for w in writes) else None

    storage.tables["entries"] = {("old", "1"): "x"}
    storage.on_commit = full_unless_only_deletions
    await saver.write([put(("c", "1"))])
    await saver.write([Delete("entries", ("old",), prefix=True)])
    assert storage.tables["entries"] == {}
    storage.on_commit = lambda writes: None
    storage.commit_fault = None
    await clock.advance(FIRST_RETRY)
    assert list(storage.tables["entries"]) == [("c", "1")]


async def test_nothing_is_written_while_reads_fail(parts):
    saver, storage, clock, _ = parts
    storage.read_fault = broken()
    saver.suspend(broken())
    await saver.write([put(("c", "1"))])
    await clock.advance(10_000)
    assert storage.commits == []
    storage.read_fault = None
    await clock.advance(30_000)
    assert storage.tables["entries"] == {("c", "1"): "v"}


async def test_a_cancelled_caller_does_not_take_its_write_along(parts):
    saver, storage, _, _ = parts
    writing = asyncio.ensure_future(saver.write([put(("c", "1"))]))
    await asyncio.sleep(0)
    writing.cancel()
    await breathe()
    assert storage.tables["entries"] == {("c", "1"): "v"}


async def test_close_writes_what_it_can(parts):
    saver, storage, _, _ = parts
    storage.commit_fault = broken()
    await saver.write([put(("c", "1"))])
    storage.commit_fault = None
    await saver.flush()
    assert storage.tables["entries"] == {("c", "1"): "v"}


# The whole player over failing storage.


async def test_a_conversation_goes_on_in_memory_and_is_saved_later():
    world = World({"a": {"onToolCall": lambda name, args, store, *_: store.update(n=1)}})
    character = package(agent("a", "act"))
    async with playing(world, character) as player:
        world.storage.commit_fault = full()
        world.transport.calls(("act", {}))
        world.transport.says("Hi")
        assert (await player.send("Hello"))["content"] == "Hi"
        [banner] = world.notifier.of(StorageFails)
        assert "Storage is full." in banner.text and "in memory" in banner.text
        assert (await player.export_conversation())["entries"]
        assert world.storage.tables.get("entries", {}) == {}
        world.storage.commit_fault = None
        await world.clock.advance(30_000)
        kept = roles(player)
        assert world.notifier.notices[-1] == StorageWorks()
    async with playing(world, character) as again:
        assert roles(again) == kept
        assert await again.agent_store("a") == {"n": 1}


async def test_a_failed_read_at_the_start_gives_a_new_conversation_and_overwrites_nothing():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await player.send("Hello")
        old = player.conversation_id
    before = {table: dict(records) for table, records in world.storage.tables.items()}
    world.storage.read_fault = broken()
    async with playing(world, package()) as player:
        assert player.conversation_id != old
        world.transport.says("In memory.")
        await player.send("Still there?")
        assert world.storage.tables == before
        world.storage.read_fault = None
        await world.clock.advance(30_000)
        for table, records in before.items():
            assert records.items() <= world.storage.tables[table].items()
        await player.load_conversation(old)
        assert roles(player) == [("user", "Hello"), ("assistant", "Hi")]


async def test_a_conversation_that_cannot_be_read_is_not_opened_and_not_written():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await player.send("Hello")
        old = player.conversation_id
        here = await player.new_conversation()
        await breathe()
        commits = len(world.storage.commits)
        world.storage.read_fault = broken()
        with pytest.raises(StorageError):
            await player.load_conversation(old)
        assert player.conversation_id == here
        assert len(world.storage.commits) == commits
        assert not any(old in name for name in world.locks.held)


async def test_while_reads_fail_the_open_conversation_is_listed_and_nothing_is_written():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await breathe()
        commits = len(world.storage.commits)
        world.storage.read_fault = broken()
        assert [item["id"] for item in await player.list_conversations()] == [
            player.conversation_id
        ]
        await player.send("Hello")
        assert len(world.storage.commits) == commits
        world.storage.read_fault = None
        await world.clock.advance(30_000)
        assert len(world.storage.tables["entries"]) == 2


async def test_a_damaged_entry_is_left_alone_and_the_rest_is_shown():
    world = World()
    for text in ("One", "Two"):
        world.transport.says(text)
    async with playing(world, package()) as player:
        await player.send("1")
        await player.send("2")
    keys = sorted(world.storage.tables["entries"])
    world.storage.tables["entries"][keys[1]] = "{broken"
    world.storage.tables["entries"][keys[3]] = '{"id": "e4"}'
    async with playing(world, package()) as again:
        assert roles(again) == [("user", "1"), ("user", "2")]
        assert "2 stored message(s)" in world.notifier.of(Caution)[0].text
        world.transport.says("Three")
        await again.send("3")
        assert again.entries[-1].id > keys[3][1], "an id is not used twice"
    assert world.storage.tables["entries"][keys[1]] == "{broken"


async def test_a_damaged_store_is_not_replaced_and_its_agent_not_called():
    world = World({"a": {"onToolCall": lambda *_: "x"}})
    character = package(agent("a", "act"))
    world.transport.calls(("act", {}))
    world.transport.says("Hi")
    async with playing(world, character) as player:
        await player.send("Hello")
    [key] = world.storage.tables["stores"]
    world.storage.tables["stores"][key] = "damaged"
    world.transport.calls(("act", {}))
    world.transport.says("Hm")
    async with playing(world, character) as again:
        await again.send("Again")
        result = [entry.content for entry in again.entries if entry.role == "tool"][-1]
        assert "damaged" in result
        with pytest.raises(BridgeError):
            await again.agent_store("a")
        assert (await again.export_conversation())["stores"] == {}
    assert world.storage.tables["stores"][key] == "damaged"


async def test_a_damaged_head_is_left_alone():
    world = World()
    async with playing(world, package()):
        pass
    [key] = world.storage.tables["conversations"]
    world.storage.tables["conversations"][key] = "[1]"
    async with playing(world, package()) as again:
        assert again.conversation_id != key[1]
        assert len(await again.list_conversations()) == 1
    assert world.storage.tables["conversations"][key] == "[1]"


async def test_a_clock_that_goes_back_does_not_reorder_conversations():
    world = World()
    world.transport.says("Hi")
    player = make_player(world, package())
    await player.ready()
    before = (await player.list_conversations())[0]["updatedAt"]
    world.clock.time -= 500_000
    await player.send("Hello")
    assert (await player.list_conversations())[0]["updatedAt"] == before
    await player.dispose()


async def test_after_the_clock_went_back_what_changed_last_still_comes_first():
    world = World()
    async with playing(world, package()) as player:

        async def listed() -> list[str]:
            return [item["id"] for item in await player.list_conversations()]

        async def say() -> None:
            world.transport.says("Hi")
            await player.send("Hello")

        await say()
        old = player.conversation_id
        world.clock.time -= 500_000
        new = await player.new_conversation()
        assert await listed() == [new, old]
        await player.load_conversation(old)
        await say()
        assert await listed() == [old, new]
        fork = await player.fork(player.entries[0].id)
        assert await listed() == [fork, old, new]
    async with playing(world, package()) as again:
        assert again.conversation_id == fork, "also in the next tab"
        assert (await again.new_conversation()) == (await again.list_conversations())[0]["id"]


# Going elsewhere while the newest changes are only in memory.


async def test_a_conversation_that_was_left_unsaved_is_found_again_as_it_was():
    world = World({"a": {"onToolCall": lambda name, args, store, *_: store.update(n=1)}})
    character = package(agent("a", "act"))
    world.transport.says("One")
    async with playing(world, character) as player:
        await player.send("1")
        first = player.conversation_id
        world.storage.commit_fault = full()
        world.transport.calls(("act", {}))
        world.transport.says("Two")
        await player.send("2")
        said = roles(player)
        second = await player.new_conversation()
        assert {item["id"] for item in await player.list_conversations()} == {first, second}
        await player.load_conversation(first)
        assert roles(player) == said
        assert await player.agent_store("a") == {"n": 1}
        world.transport.says("Three")
        await player.send("3")
        world.storage.commit_fault = None
        await world.clock.advance(30_000)
        said = roles(player)
    async with playing(world, character) as again:
        await again.load_conversation(first)
        assert roles(again) == said
        assert len({entry.id for entry in again.entries}) == len(said)


@pytest.mark.parametrize("fault", ["commit_fault", "read_fault"])
async def test_new_conversations_forks_and_copies_live_in_memory_while_storage_fails(fault):
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await player.send("Hello")
        source = player.conversation_id
        before = {table: dict(records) for table, records in world.storage.tables.items()}
        world.storage.commit_fault = full()
        setattr(world.storage, fault, full())
        forked = await player.fork(player.entries[0].id)
        copied = await player.import_conversation(await player.export_conversation())
        fresh = await player.new_conversation()
        for identity, said in ((forked, 1), (copied, 1), (fresh, 0)):
            await player.load_conversation(identity)
            assert len(player.entries) == said
            assert not player.read_only
        listed = {item["id"] for item in await player.list_conversations()}
        assert {forked, copied, fresh} <= listed
        assert len((await player.export_conversation(copied))["entries"]) == 1
        await player.rename_conversation(copied, "Copy")
        await player.delete_conversation(forked)
        assert world.storage.tables == before
        world.storage.commit_fault = world.storage.read_fault = None
        await world.clock.advance(60_000)
        stored = {key[1] for key in world.storage.tables["conversations"]}
        assert stored == {source, copied, fresh}
        assert len(world.locks.held) == 1, "the locks of what is stored are free again"


async def test_an_unsaved_conversation_is_locked_until_it_is_stored():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        first = player.conversation_id
        world.storage.commit_fault = full()
        await player.send("Hello")
        await player.new_conversation()
        await breathe()
        assert any(first in name for name in world.locks.held)
        world.storage.commit_fault = None
        await world.clock.advance(30_000)
        assert not any(first in name for name in world.locks.held)


async def test_what_a_player_could_not_save_is_saved_after_it_was_disposed_of():
    world = World()
    environment = world.environment()
    world.transport.says("Hi")
    player = CharacterPlayer(
        package(), environment=environment, base_url="https://model.test/v1", model="m"
    )
    await player.ready()
    world.storage.commit_fault = full()
    await player.send("Hello")
    said = roles(player)
    await player.dispose()
    again = CharacterPlayer(package(), environment=environment)
    await again.ready()
    assert roles(again) == said
    assert not again.read_only
    await again.dispose()
    world.storage.commit_fault = None
    await world.clock.advance(60_000)
    assert len(world.storage.tables["entries"]) == 2
    assert world.locks.held == set()
