"""Long conversations are opened by their last page; the rest follows and nothing is lost."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from personae.conversation.changes import EntriesReplaced
from personae.conversation.entries import Entry, ToolCall, entry_id
from personae.errors import StorageError
from personae.player.character_player import CharacterPlayer
from personae.ports import Put
from personae.storage.conversations import BLOCK, PAGE
from personae.storage.head import Head
from personae.storage.records import put_entry, put_head

from tests.fakes import World
from tests.player.support import make_player, package, playing

LONG = PAGE + 2 * BLOCK + 7


def stored(world: World, count: int, *, tail: tuple[Entry, ...] = ()) -> None:
    """A conversation of ``count`` entries and then ``tail``, as storage holds it."""
    head = Head(id="c1", character_id="ada", created_at=1, updated_at=10**14, next_entry=1)
    writes = [put_head(head), *(put_entry("c1", said(number)) for number in range(count))]
    for write in (*writes, *(put_entry("c1", entry) for entry in tail)):
        assert isinstance(write, Put)
        world.storage.tables.setdefault(write.table, {})[write.key] = write.value


def said(number: int) -> Entry:
    role: Any = "assistant" if number % 2 else "user"
    return Entry(id=entry_id(number + 1), role=role, content=f"text {number}", at=number)


def player_of(world: World) -> CharacterPlayer:
    return make_player(world, package(), character_id="ada")


async def test_the_last_page_is_there_first_and_the_rest_follows():
    world = World()
    stored(world, LONG)
    player = player_of(world)
    replaced = asyncio.Event()
    await player.ready(whole=False)
    assert [entry.content for entry in player.entries] == [
        f"text {number}" for number in range(LONG - PAGE, LONG)
    ]
    player.on("change", lambda change: change == EntriesReplaced() and replaced.set())
    await asyncio.wait_for(replaced.wait(), 10)
    assert [entry.content for entry in player.entries] == [f"text {n}" for n in range(LONG)]
    await player.dispose()


@pytest.mark.parametrize("count", [0, 1, PAGE - 1, PAGE, PAGE + 1, PAGE + BLOCK, LONG])
async def test_whoever_waits_for_all_gets_all(count: int):
    world = World()
    stored(world, count)
    async with playing(world, package(), character_id="ada") as player:
        shown = [message["index"] for message in player.get_conversation()]
        assert shown == list(range(count))


async def test_a_message_waits_for_the_older_ones():
    world = World()
    stored(world, LONG)
    player = player_of(world)
    await player.ready(whole=False)
    world.transport.says("Hello.")
    await player.send("Well?")
    sent = [m["content"] for m in world.transport.bodies[-1]["messages"] if m["role"] == "user"]
    assert "text 0" in sent
    assert len(player.entries) == LONG + 2
    await player.dispose()


async def test_calls_without_an_answer_are_repaired_when_all_is_there():
    world = World()
    call = ToolCall("call_1", "roll", "{}", 1)
    asked = Entry(id=entry_id(LONG + 1), role="assistant", content="", at=1, tool_calls=(call,))
    stored(world, LONG, tail=(asked,))
    async with playing(world, package(), character_id="ada") as player:
        assert (player.entries[-1].role, player.entries[-1].tool_call_id) == ("tool", "call_1")
        assert player.entries[0].content == "text 0"


async def test_a_read_that_fails_is_tried_again_and_nothing_is_written_before():
    world = World()
    stored(world, LONG)
    player = player_of(world)
    await player.ready(whole=False)
    world.storage.read_fault = StorageError("storage_failed", "The disk is away.")
    before = len(world.storage.commits)
    await world.clock.advance(5_000)
    assert len(player.entries) == PAGE
    world.storage.read_fault = None
    await world.clock.advance(40_000)
    await asyncio.wait_for(player.ready(), 10)
    assert len(player.entries) == LONG
    assert len(world.storage.commits) == before
    await player.dispose()


async def test_an_export_of_another_long_conversation_is_whole():
    world = World()
    stored(world, LONG)
    async with playing(world, package(), character_id="ada") as player:
        await player.new_conversation()
        data = await player.export_conversation("c1")
        assert len(data["entries"]) == LONG
