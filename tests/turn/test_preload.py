"""onLoad: when it is called, what becomes of its answer."""

from __future__ import annotations

import pytest

from tests.player.support import World, agent, heard, package, playing


def loads(world):
    """The preload block of each request, or None."""
    blocks = []
    for body in world.transport.bodies:
        files = [m["content"] for m in body["messages"] if m.get("isFile")]
        blocks.append(files[-1] if files else None)
    return blocks


async def test_before_the_first_request_and_again_after_every_turn():
    seen = []

    def load(store, studio, context):
        seen.append((context["invokedBy"], context["conversationLength"]))
        store["loads"] = store.get("loads", 0) + 1
        return f"load {store['loads']}"

    world = World({"a.memory": {"onLoad": load}})
    world.transport.says("One")
    world.transport.says("Two")
    async with playing(world, package(agent("a.memory", preload=True))) as player:
        await player.send("1")
        await player.send("2")
    assert loads(world) == ["load 1", "load 2"]
    assert seen == [("preload", 0), ("preload", 2), ("preload", 4)]


async def test_results_are_joined_in_load_order_and_nothing_adds_nothing():
    world = World(
        {
            "z.one": {"onLoad": lambda *_: "first"},
            "b.none": {"onLoad": lambda *_: None},
            "b.blank": {"onLoad": lambda *_: ""},
            "a.two": {"onLoad": lambda *_: "second"},
            "c.not": {"onLoad": lambda *_: "never"},
        }
    )
    agents = [agent(name, preload=name != "c.not") for name in world.sandbox.agents]
    world.transport.says("Hi")
    async with playing(world, package(*agents)) as player:
        await player.send("Hello")
    assert loads(world) == ["first\n\nsecond"]


async def test_an_agent_that_fails_stops_nobody_and_keeps_its_store():
    def fail(store, studio, context):
        store["half"] = 1
        raise ValueError("no")

    world = World({"a.bad": {"onLoad": fail}, "a.good": {"onLoad": lambda *_: "good"}})
    world.transport.says("Hi")
    agents = agent("a.bad", preload=True), agent("a.good", preload=True)
    async with playing(world, package(*agents)) as player:
        errors = heard(player, "error")
        await player.send("Hello")
        assert await player.agent_store("a.bad") == {}
        assert {error.detail["agentId"] for error in errors} == {"a.bad"}
        assert "onLoad" in player.agent_log("a.bad")[0]["text"]
    assert loads(world) == ["good"]


async def test_an_agent_without_the_function_adds_nothing_and_is_no_error():
    world = World({"a.bare": {}})
    world.transport.says("Hi")
    async with playing(world, package(agent("a.bare", preload=True))) as player:
        errors = heard(player, "error")
        await player.send("Hello")
        assert errors == []
    assert loads(world) == [None]


async def test_a_command_that_changes_a_store_reaches_the_next_request():
    def add(args, store, studio, context):
        store["note"] = args

    world = World({"a.notes": {"onLoad": lambda store, *_: store.get("note"), "add": add}})
    world.transport.says("Hi")
    notes = agent("a.notes", preload=True, commands={"note": "add"})
    async with playing(world, package(notes)) as player:
        assert await player.run_command("note", "buy milk") is None
        await player.send("Hello")
    assert loads(world) == ["buy milk"]


@pytest.mark.parametrize("hooked", [True, False])
async def test_a_hook_before_the_response_makes_it_fresh(hooked):
    def before(event, store, studio, context):
        store["said"] = event["userText"]

    world = World(
        {"a.m": {"onLoad": lambda store, *_: store.get("said"), "onBeforeResponse": before}}
    )
    world.transport.says("Hi")
    hooks = ("beforeResponse",) if hooked else ()
    async with playing(world, package(agent("a.m", preload=True, hooks=hooks))) as player:
        await player.send("Hello")
    assert loads(world) == ["Hello" if hooked else None]
