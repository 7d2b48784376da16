"""Several conversations: create, list, load, rename, delete, export, import."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from personae.conversation.changes import ConversationOpened, EntriesReplaced, ReadOnlyChanged
from personae.errors import UsageError

from tests.player.support import World, agent, breathe, heard, package, playing, roles


def counter(name, args, store, studio, context):
    store["n"] = store.get("n", 0) + 1
    store["last"] = {"toolCallId": context["toolCallId"], "list": [{"toolCallId": 1, "keep": 2}]}
    return str(store["n"])


CHARACTER = package(agent("a", "count"), default_stores={"a": {"seed": True}})


def counting():
    return World({"a": {"onToolCall": counter}})


async def talk(world, player, text="Hello", answer="Hi"):
    world.transport.calls(("count", {}))
    world.transport.says(answer)
    return await player.send(text)


async def test_a_store_belongs_to_one_conversation_and_starts_from_the_seed():
    world = counting()
    async with playing(world, CHARACTER) as player:
        first = player.conversation_id
        assert await player.agent_store("a") == {"seed": True}
        await talk(world, player)
        assert (await player.agent_store("a"))["n"] == 1
        second = await player.new_conversation()
        assert await player.agent_store("a") == {"seed": True}
        await talk(world, player)
        await player.load_conversation(first)
        assert (await player.agent_store("a"))["n"] == 1
        await player.load_conversation(second)
        assert (await player.agent_store("a"))["n"] == 1


async def test_a_changed_default_store_never_touches_an_existing_conversation():
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player)
    async with playing(
        world, package(*CHARACTER.agents, default_stores={"a": {"new": 1}})
    ) as player:
        assert "seed" in await player.agent_store("a")
        await player.new_conversation()
        assert await player.agent_store("a") == {"new": 1}


async def test_agents_keep_nothing_in_memory_from_another_conversation():
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player)
        await player.new_conversation()
        await talk(world, player)
        assert world.sandbox.started == 2
        await breathe()
        assert world.sandbox.open_workers == 1


async def test_conversations_are_listed_newest_first_with_a_title_from_their_first_message():
    world = counting()
    async with playing(world, CHARACTER) as player:
        first = player.conversation_id
        await talk(world, player, "What is\na monad?  " + "x" * 100)
        await world.clock.advance(5)
        second = await player.new_conversation()
        listed = await player.list_conversations()
        assert [item["id"] for item in listed] == [second, first]
        assert listed[0]["title"] == ""
        assert listed[1]["title"].startswith("What is a monad? xxx")
        assert len(listed[1]["title"]) == 60
        await world.clock.advance(5)
        await player.load_conversation(first)
        await talk(world, player)
        assert [item["id"] for item in await player.list_conversations()] == [first, second]
    async with playing(world, CHARACTER) as player:
        assert player.conversation_id == first


async def test_renaming_the_open_and_another_conversation():
    world = counting()
    async with playing(world, CHARACTER) as player:
        first = player.conversation_id
        second = await player.new_conversation()
        await player.rename_conversation(first, "First")
        await player.rename_conversation(second, "Second")
        await talk(world, player, "Not a title")
        titles = {item["id"]: item["title"] for item in await player.list_conversations()}
        assert titles == {first: "First", second: "Second"}


async def test_deleting_another_conversation_removes_all_of_its_records():
    world = counting()
    async with playing(world, CHARACTER) as player:
        first = player.conversation_id
        await talk(world, player)
        second = await player.new_conversation()
        await breathe()
        await player.delete_conversation(first)
        assert player.conversation_id == second
        keys = [key for table in world.storage.tables.values() for key in table]
        assert not any(first in key for key in keys)


async def test_deleting_the_open_conversation_opens_the_newest_other_or_a_new_one():
    world = counting()
    async with playing(world, CHARACTER) as player:
        first = player.conversation_id
        second = await player.new_conversation()
        await player.delete_conversation(second)
        assert player.conversation_id == first
        await player.delete_conversation(first)
        assert player.conversation_id not in (first, second)
        assert len(await player.list_conversations()) == 1


async def test_an_unknown_conversation_changes_nothing():
    async with playing(World(), package()) as player:
        here = player.conversation_id
        for attempt in (
            player.load_conversation("x"),
            player.delete_conversation("x"),
            player.rename_conversation("x", "t"),
            player.export_conversation("x"),
        ):
            with pytest.raises(UsageError) as caught:
                await attempt
            assert caught.value.code == "unknown_conversation"
        assert player.conversation_id == here


async def test_characters_do_not_see_each_others_conversations():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package(digest="1" * 64)) as player:
        await player.send("Hello")
    async with playing(world, package(digest="2" * 64)) as player:
        assert roles(player) == []
        assert len(await player.list_conversations()) == 1
    async with playing(world, package(digest="2" * 64), character_id=None) as player:
        assert roles(player) == []


async def test_export_and_import_give_the_same_conversation_under_a_new_id():
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player)
        data = json.loads(json.dumps(await player.export_conversation()))
        assert data["character"] == "Ada"
        assert "k" not in data.values()
        here, kept, store = player.conversation_id, roles(player), await player.agent_store("a")
        imported = await player.import_conversation(data)
        assert imported != here
        await player.load_conversation(imported)
        assert roles(player) == kept
        assert await player.agent_store("a") == store
        await talk(world, player)
        numbers = [entry.number for entry in player.entries if entry.role == "tool"]
        assert numbers == [1, 2]
        assert await player.export_conversation(here) == data


async def test_what_version_0_1_0_exported_comes_back_as_it_was():
    """The file is that version's own: tool calls, a rejected response, two stores."""
    data = json.loads((Path(__file__).parent / "exported-by-0.1.0.json").read_text("utf-8"))
    async with playing(counting(), CHARACTER) as player:
        imported = await player.import_conversation(data)
        again = await player.export_conversation(imported)
    own = {
        name: again["conversation"][name]
        for name in ("id", "characterId", "createdAt", "updatedAt")
    }
    assert own["id"] == imported
    assert again == data | {"conversation": data["conversation"] | own}


async def test_an_answer_that_is_cut_off_in_a_copy_says_so():
    world = counting()
    async with playing(world, CHARACTER) as player:
        rest = asyncio.Event()
        world.transport.says("Half", rest, " whole")
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe(200)
        copies = [
            await player.import_conversation(await player.export_conversation()),
            await player.restore(await player.snapshot()),
        ]
        assert [entry.stopped for entry in player.entries] == [False, False]
        rest.set()
        await sending
        assert (player.entries[-1].content, player.entries[-1].stopped) == ("Half whole", False)
        whole = await player.restore(await player.snapshot())
        for copy, said in ((copies[0], "Half"), (copies[1], "Half"), (whole, "Half whole")):
            await player.load_conversation(copy)
            last = player.entries[-1]
            assert (last.content, last.stopped) == (said, said == "Half")


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda data: "text", "bad_import"),
        (lambda data: {}, "bad_import"),
        (lambda data: data | {"version": 99}, "newer_import"),
        (lambda data: data | {"entries": [{"id": "e"}]}, "bad_import"),
        (lambda data: data | {"entries": 3}, "bad_import"),
        (lambda data: data | {"entries": data["entries"] * 2}, "bad_import"),
        (lambda data: data | {"stores": {"a": [1]}}, "bad_import"),
        (lambda data: data | {"conversation": None}, "bad_import"),
    ],
)
async def test_a_damaged_import_is_refused_and_writes_nothing(damage, code):
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player)
        data = await player.export_conversation()
        before = len(world.storage.commits)
        with pytest.raises(UsageError) as caught:
            await player.import_conversation(damage(data))
        assert caught.value.code == code
        assert len(world.storage.commits) == before


async def test_default_data_is_the_stores_without_any_tool_call_id():
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player)
        files = player.export_default_data()
    assert list(files) == ["a.agent.json"]
    assert json.loads(files["a.agent.json"]) == {
        "seed": True,
        "n": 1,
        "last": {"list": [{"keep": 2}]},
    }


async def test_a_stores_record_carries_no_messages_and_an_entrys_no_stores():
    world = counting()
    async with playing(world, CHARACTER) as player:
        await talk(world, player, "secret words")
        world.storage.commits.clear()
        await player.edit(player.entries[0].id, "other words")
        tables = {write.table for writes in world.storage.commits for write in writes}
        assert tables == {"entries", "conversations"}
    [store] = world.storage.tables["stores"].values()
    header, _, text = store.partition("\n")
    assert json.loads(header) == {"version": 2}
    assert json.loads(text)["n"] == 1
    assert "words" not in store


async def test_opening_another_conversation_is_told():
    async with playing(World(), package()) as player:
        await breathe()
        changes = heard(player, "change")
        opened = await player.new_conversation()
        assert changes[:3] == [
            ConversationOpened(opened),
            EntriesReplaced(),
            ReadOnlyChanged(False),
        ]


async def test_a_deleted_conversation_comes_back_as_it_was():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await player.send("Hello")
        identity, before = player.conversation_id, await player.snapshot()
        await breathe()
        kept = {name: dict(table) for name, table in world.storage.tables.items()}
        await world.clock.advance(60_000)
        await player.delete_conversation(identity)
        replacing = player.conversation_id
        await player.bring_back(before)
        assert player.conversation_id == replacing
        with pytest.raises(UsageError, match="there already"):
            await player.bring_back(before)
    for name, table in kept.items():
        assert table.items() <= world.storage.tables[name].items()
