"""What a newer version has written survives everything that this one does with a conversation."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from personae.player.character_player import CharacterPlayer
from personae.player.undoing import Deed
from personae.storage.conversations import PAGE

from tests.player.support import World, agent, breathe, package, playing

CHARACTER = package(agent("a", "act", debug=True))
HEAD = {"members": [{"id": "m1"}, {"id": "m2"}], "turns": {"auto": 3}, "nextMember": 3}
ENTRY = {"member": "m2", "replyTo": "e0000000001", "audience": ["m2"], "to": None}
CALL = {"state": "answered"}
OTHERS = {"m2:a": '{"version":7}\n{"mine": 2}', "room:b": '{"version":1}\n{}', "broken": "damaged"}

Make = Callable[[CharacterPlayer], Awaitable[str]]


async def fork(player: CharacterPlayer) -> str:
    return await player.fork(player.entries[-1].id)


async def undo(player: CharacterPlayer) -> str:
    deed = Deed()
    await player.clear(deed=deed)
    await player.rename_conversation(player.conversation_id, "Another title")
    await player.undo(deed)
    return player.conversation_id


async def as_it_was(player: CharacterPlayer) -> str:
    deed = Deed()
    await player.clear(deed=deed)
    assert deed.before is not None
    return await player.restore(deed.before, "As it was")


async def undo_of_a_deletion(player: CharacterPlayer) -> str:
    deleted = player.conversation_id
    before = await player.snapshot(deleted)
    await player.new_conversation()
    await player.delete_conversation(deleted)
    await player.bring_back(before)
    return deleted


async def copy(player: CharacterPlayer) -> str:
    return await player.import_conversation(
        json.loads(json.dumps(await player.export_conversation()))
    )


async def edited(player: CharacterPlayer) -> str:
    await player.edit(player.entries[0].id, "Hello!")
    return player.conversation_id


async def newer(world: World) -> None:
    """A conversation with a tool call, as a newer version might have stored it."""
    world.transport.calls(("act", {}))
    world.transport.says("Hi")
    async with playing(world, CHARACTER) as player:
        await player.send("Hello")
    tables = world.storage.tables
    [head] = tables["conversations"]
    tables["conversations"][head] = json.dumps(world.storage.json("conversations")[head] | HEAD)
    for key, entry in world.storage.json("entries").items():
        calls = [call | CALL for call in entry.get("tool_calls", ())]
        tables["entries"][key] = json.dumps(
            entry | ENTRY | ({"tool_calls": calls} if calls else {})
        )
    for owner, value in OTHERS.items():
        tables["stores"][head[1], owner] = value
    tables["logs"][head[1], "m2:a", 1] = '{"at":1,"kind":"log","text":"of m2"}'
    tables["entries"][head[1], "e0000000002x"] = "damaged"


def acting() -> World:
    return World({"a": {"onToolCall": lambda name, args, store, *_: store.update(n=1)}})


def of(world: World, table: str, identity: str) -> dict[tuple[Any, ...], Any]:
    return {
        key[1:]: value
        for key, value in world.storage.tables.get(table, {}).items()
        if key[0] == identity
    }


@pytest.mark.parametrize("make", [edited, fork, copy, undo, as_it_was, undo_of_a_deletion])
async def test_fields_of_a_newer_version_survive(make: Make) -> None:
    world = acting()
    await newer(world)
    async with playing(world, CHARACTER) as player:
        identity = await make(player)
    heads = world.storage.json("conversations")
    [head] = [head for key, head in heads.items() if key[1] == identity]
    assert head.items() >= HEAD.items()
    texts = of(world, "entries", identity).values()
    entries = [json.loads(text) for text in texts if text != "damaged"]
    assert [entry["role"] for entry in entries] == ["user", "assistant", "tool", "assistant"]
    for entry in entries:
        assert entry.items() >= ENTRY.items()
        for call in entry.get("tool_calls", ()):
            assert call.items() >= CALL.items()
    stores = of(world, "stores", identity)
    assert json.loads(stores["m2:a",].partition("\n")[2]) == {"mine": 2}
    assert stores.keys() >= {("a",), ("room:b",)}


@pytest.mark.parametrize("make", [undo, as_it_was, undo_of_a_deletion])
async def test_undo_brings_back_logs_and_what_cannot_be_read(make: Make) -> None:
    world = acting()
    await newer(world)
    [key] = world.storage.tables["conversations"]
    tables = ("entries", "stores", "logs")
    before = {table: of(world, table, key[1]) for table in tables}
    async with playing(world, CHARACTER) as player:
        log = player.agent_log("a")
        assert [line["kind"] for line in log] == ["call"]
        identity = await make(player)
        await player.load_conversation(identity)
        assert player.agent_log("a") == log
    after = {table: of(world, table, identity) for table in tables}
    for table in tables:
        assert after[table].keys() == before[table].keys()
    assert after["logs"] == before["logs"]
    assert after["stores"] == before["stores"]
    assert after["entries"]["e0000000002x",] == "damaged"


async def test_a_snapshot_of_a_long_conversation_waits_for_all_of_it() -> None:
    world = World()
    async with playing(world, package()) as player:
        for number in range(PAGE):
            world.transport.says("Hi")
            await player.send(str(number))
        identity = player.conversation_id
        other = await player.new_conversation()
        await player.load_conversation(identity, whole=False)
        assert len(player.entries) == PAGE
        copied = await player.restore(await player.snapshot())
        await player.load_conversation(copied)
        assert len(player.entries) == 2 * PAGE
        assert other != identity


async def test_deleting_a_conversation_leaves_nothing_of_it_in_any_table() -> None:
    world = acting()
    await newer(world)
    [(_, identity)] = world.storage.tables["conversations"]
    for table, key in [
        ("world", (identity, "m1", "data", "plugin", "name", "key")),
        ("commits", (identity, 1)),
        ("artifacts", (identity, "a")),
    ]:
        world.storage.tables[table] = {key: "{}", ("other", *key[1:]): "{}"}
    async with playing(world, CHARACTER) as player:
        await player.new_conversation()
        await breathe()
        await player.delete_conversation(identity)
    left = [key for table in world.storage.tables.values() for key in table]
    assert not any(identity in key for key in left)
    assert len([key for key in left if key[0] == "other"]) == 3


async def test_a_copy_tells_its_agents_of_an_edit_that_they_have_not_heard_of() -> None:
    world = acting()
    await newer(world)
    [key] = world.storage.tables["conversations"]
    pending = {"deletedToolCallIds": [9], "lastViableToolCallId": 1, "agents": ["a"]}
    async with playing(world, CHARACTER) as player:
        exported = await player.export_conversation()
        exported["conversation"]["edit"] = pending
        copied = await player.import_conversation(exported)
    [head] = [h for k, h in world.storage.json("conversations").items() if k[1] == copied]
    assert head["edit"] == pending
    assert key[1] != copied
