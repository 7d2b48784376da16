"""Two tabs on one conversation: one writes, the other reads until the first is gone."""

from __future__ import annotations

import asyncio

import pytest
from personae.conversation.changes import ReadOnlyChanged
from personae.errors import UsageError
from personae.player.open_conversation import LOCK_POLL

from tests.player.support import World, agent, breathe, heard, make_player, package, playing, roles


async def test_the_second_tab_reads_and_is_told_so():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as first:
        await first.send("Hello")
        async with playing(world, package()) as second:
            assert second.read_only and not first.read_only
            assert roles(second) == roles(first)
            for attempt in (
                second.send("x"),
                second.edit(second.entries[0].id, "x"),
                second.clear(),
                second.run_command("x"),
                second.rename_conversation(second.conversation_id, "x"),
                second.delete_conversation(second.conversation_id),
            ):
                with pytest.raises(UsageError) as caught:
                    await attempt
                assert caught.value.code == "read_only"
            assert (await second.prompt_preview())["messages"]
            assert (await second.export_conversation())["entries"]


async def test_the_second_tab_writes_nothing_and_starts_no_agent():
    world = World({"a": {"onLoad": lambda store, *_: store.update(n=1)}})
    character = package(agent("a", preload=True, hooks=("conversationStart",)))
    async with playing(world, character):
        await breathe()
        commits, workers = len(world.storage.commits), world.sandbox.started
        async with playing(world, character):
            await world.clock.advance(10_000)
            assert len(world.storage.commits) == commits
            assert world.sandbox.started == workers


async def test_the_second_tab_takes_over_with_what_the_first_wrote_last():
    world = World()
    world.transport.says("Hi")
    first = make_player(world, package())
    await first.ready()
    async with playing(world, package()) as second:
        changes = heard(second, "change")
        await first.send("Hello")
        await first.dispose()
        await world.clock.advance(LOCK_POLL)
        assert not second.read_only
        assert roles(second) == [("user", "Hello"), ("assistant", "Hi")]
        assert ReadOnlyChanged(False) in changes
        world.transport.says("Hi again")
        await second.send("And now?")


async def test_a_conversation_in_another_tab_is_not_deleted_or_renamed():
    world = World()
    async with playing(world, package()) as first, playing(world, package()) as second:
        await second.new_conversation()
        for attempt in (
            second.delete_conversation(first.conversation_id),
            second.rename_conversation(first.conversation_id, "x"),
        ):
            with pytest.raises(UsageError) as caught:
                await attempt
            assert caught.value.code == "read_only"


async def test_forking_from_a_read_only_conversation_gives_a_writable_one():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as first:
        await first.send("Hello")
        async with playing(world, package()) as second:
            await second.fork(second.entries[0].id)
            assert not second.read_only
            world.transport.says("Yo")
            assert (await second.send("Other"))["content"] == "Yo"
        assert roles(first) == [("user", "Hello"), ("assistant", "Hi")]


async def test_locks_are_given_back():
    world = World()
    async with playing(world, package()) as player:
        await player.new_conversation()
        await breathe()
        assert len(world.locks.held) == 1
    assert world.locks.held == set()


async def test_a_stopped_response_is_closed_before_its_conversation_is_free():
    world, gate = World(), asyncio.Event()
    world.transport.says("Half", gate)
    player = make_player(world, package())
    await player.ready()
    sending = asyncio.ensure_future(player.send("Hello"))
    await breathe()
    await player.dispose()
    assert (await sending)["stopped"] is True
    async with playing(world, package()) as again:
        assert roles(again) == [("user", "Hello"), ("assistant", "Half")]
