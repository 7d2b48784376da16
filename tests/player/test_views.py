"""What the player shows of itself: copies in plain JSON."""

from __future__ import annotations

import asyncio
import json

import pytest
from personae.errors import UsageError
from personae.package.model import SubAgent

from tests.player.support import World, agent, breathe, make_player, package, playing


async def test_the_conversation_shows_what_was_said():
    world = World({"a": {"onToolCall": lambda *_: "x"}})
    world.transport.calls(("act", {}))
    world.transport.says("One")
    async with playing(world, package(agent("a", "act"))) as player:
        await player.send("Hello")
        await player.reject(player.entries[-1].id)
        shown = player.get_conversation()
        assert shown == [
            {"id": "e0000000001", "index": 0, "role": "user", "content": "Hello"},
            {
                "id": "e0000000004",
                "index": 3,
                "role": "assistant",
                "content": "One",
                "rejected": True,
            },
        ]
        shown[0]["content"] = "changed"
        assert player.entries[0].content == "Hello"


async def test_agents_with_their_manifest_and_state():
    own = agent("s.sub.memory", "remember")
    sub = agent("s.sub", "ask", sub_agent=SubAgent({}, "", private=(own,)))
    first = agent(
        "a",
        "act",
        "look",
        commands={"note": "add"},
        apis=("studio.history",),
        preload=True,
        description="Acts.",
        version="1.2",
        debug=True,
        hooks=("afterResponse",),
    )
    world = World({"a": {"onLoad": lambda store, *_: store.update(n=1)}})
    async with playing(world, package(first, agent("b", "act"), sub)) as player:
        await breathe()
        shown = {item["id"]: item for item in player.agents()}
        json.dumps(player.agents())
    assert list(shown) == ["a", "b", "s.sub", "s.sub.memory"]
    assert shown["a"] | {"path": "", "tokensSpent": {}} == {
        "id": "a",
        "description": "Acts.",
        "version": "1.2",
        "language": "javascript",
        "path": "",
        "private": False,
        "subAgent": False,
        "tools": [
            {"name": "act", "description": "Does act.", "registered": True},
            {"name": "look", "description": "Does look.", "registered": True},
        ],
        "commands": ["note"],
        "apis": ["studio.history"],
        "hooks": ["afterResponse"],
        "libraries": [],
        "preload": True,
        "debug": True,
        "worker": "idle",
        "storeSize": 8,
        "tokensSpent": {},
        "modelCalls": {"spent": 0, "reserved": 0, "refused": 0},
    }
    assert shown["b"]["tools"][0]["registered"] is False
    assert (shown["b"]["worker"], shown["b"]["storeSize"]) == ("closed", 0)
    assert (shown["s.sub"]["subAgent"], shown["s.sub.memory"]["private"]) == (True, True)


async def test_the_prompt_preview_is_the_next_request():
    world = World({"a": {"onLoad": lambda *_: "memory"}})
    world.transport.says("Hi")
    world.transport.says("Hi")
    async with playing(world, package(agent("a", "act", preload=True))) as player:
        await player.send("Hello")
        preview = await player.prompt_preview()
        await player.send("Next")
    sent = world.transport.bodies[1]
    assert preview["messages"] == sent["messages"][:-1]
    assert preview["tools"] == sent["tools"]
    assert preview["tokens"] > sum(preview["messageTokens"]) > 0


async def test_a_store_is_a_copy_and_unknown_agents_are_named():
    character = package(agent("a"), default_stores={"a": {"list": [1]}})
    async with playing(World(), character) as player:
        store = await player.agent_store("a")
        store["list"].append(2)
        assert await player.agent_store("a") == {"list": [1]}
        for attempt in (lambda: player.agent_log("x"),):
            with pytest.raises(UsageError) as caught:
                attempt()
            assert caught.value.code == "unknown_agent"
        with pytest.raises(UsageError):
            await player.agent_store("x")


async def test_before_ready_and_after_dispose_everything_says_so():
    player = make_player(World(), package())
    for use in (player.get_conversation, player.agents, lambda: player.package):
        with pytest.raises(UsageError) as caught:
            use()
        assert caught.value.code == "not_ready"
    player.stop()
    assert (player.turn.state, player.entries, player.read_only) == ("loading", [], False)
    await player.ready()
    await player.dispose()
    await player.dispose()
    for use in (player.get_conversation, player.agents, lambda: player.conversation_id):
        with pytest.raises(UsageError) as caught:
            use()
        assert caught.value.code == "disposed"
    with pytest.raises(UsageError) as caught:
        await player.send("x")
    assert caught.value.code == "disposed"


async def test_two_players_share_nothing():
    world = World({"a": {"onToolCall": lambda name, args, store, *_: store.update(n=1)}})
    character = package(agent("a", "act"))
    async with (
        playing(world, character, character_id="one") as one,
        playing(world, character, character_id="two") as two,
    ):
        world.transport.calls(("act", {}))
        world.transport.says("Hi")
        await one.send("Hello")
        assert two.entries == []
        assert await two.agent_store("a") == {}


async def test_a_player_can_be_disposed_of_while_it_loads():
    world = World()
    player = make_player(world, package())
    loading = asyncio.ensure_future(player.ready())
    await asyncio.sleep(0)
    await player.dispose()
    with pytest.raises(UsageError) as caught:
        await loading
    assert caught.value.code == "disposed"
    assert world.locks.held == set()


async def test_the_preview_shows_what_a_command_changed():
    functions = {"onLoad": lambda store, *_: store.get("n"), "add": lambda a, s, *_: s.update(n=a)}
    character = package(agent("a", preload=True, commands={"note": "add"}))
    async with playing(World({"a": functions}), character) as player:
        await player.run_command("note", "milk")
        preview = await player.prompt_preview()
    assert preview["messages"][-1] == {"role": "user", "content": "milk", "isFile": True}
