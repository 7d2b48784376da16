"""What is stored and shown of a reply while it streams."""

from __future__ import annotations

import asyncio

from personae.conversation.changes import EntryAdded, EntryUpdated, TurnChanged

from tests.fakes import FakeResponse, sse
from tests.player.support import World, agent, breathe, heard, package, playing


def stored(world):
    return [value for _, value in sorted(world.storage.json("entries").items())]


async def test_streamed_text_is_stored_within_a_second_as_stopped():
    world, first, second = World(), asyncio.Event(), asyncio.Event()
    world.transport.says("One ", first, "two ", second, "three.")
    async with playing(world, package()) as player:
        sending = asyncio.ensure_future(player.send("Count"))
        await breathe()
        await world.clock.advance(1_000)
        assert (stored(world)[-1]["content"], stored(world)[-1]["stopped"]) == ("One ", True)
        first.set()
        await world.clock.advance(1_000)
        assert stored(world)[-1]["content"] == "One two "
        assert not player.entries[-1].stopped
        second.set()
        await sending
        assert stored(world)[-1]["content"] == "One two three."
        assert "stopped" not in stored(world)[-1]


async def test_the_app_hears_of_the_entry_at_once_and_of_its_growth_at_intervals():
    world, gate = World(), asyncio.Event()
    world.transport.says(*"abcdef", gate, "g")
    async with playing(world, package()) as player:
        changes = heard(player, "change")
        sending = asyncio.ensure_future(player.send("Spell"))
        await breathe()
        seen = [
            (type(change), change.entry.content)
            for change in changes
            if isinstance(change, EntryAdded | EntryUpdated) and change.entry.role == "assistant"
        ]
        assert seen == [(EntryAdded, "a")]
        await world.clock.advance(30)
        assert changes[-1].entry.content == "abcdef"
        gate.set()
        await sending
        last = [c for c in changes if isinstance(c, EntryAdded | EntryUpdated)][-1]
        assert (type(last), last.entry.content) == (EntryUpdated, "abcdefg")


async def test_reasoning_is_kept_apart_and_never_sent():
    world = World()
    delta = {"choices": [{"delta": {"reasoning_content": "Thinking."}}]}
    world.transport.says("Speaking.")
    world.transport.script[0]._pieces.insert(0, sse(delta))
    world.transport.says("Again.")
    async with playing(world, package()) as player:
        await player.send("Hello")
        entry = player.entries[-1]
        assert (entry.content, entry.reasoning) == ("Speaking.", "Thinking.")
        await player.send("Hello")
    assert "Thinking." not in str(world.transport.bodies[-1])


async def test_text_that_turns_out_to_be_reasoning_moves_there():
    world = World()
    world.transport.says("I think", "</think>", "I say.")
    async with playing(world, package()) as player:
        assert (await player.send("Hello"))["content"] == "I say."
        assert player.entries[-1].reasoning == "I think"


async def test_states_of_a_turn_are_told():
    functions = {"onLoad": lambda *_: "x", "onAfterResponse": lambda *_: None}
    world = World({"a": {**functions, "onToolCall": lambda *_: "done"}})
    world.transport.calls(("act", {}))
    world.transport.says("Hi")
    everything = agent("a", "act", preload=True, hooks=("afterResponse",))
    async with playing(world, package(everything)) as player:
        await breathe()
        changes = heard(player, "change")
        await player.send("Hello")
    turns = [change.turn for change in changes if isinstance(change, TurnChanged)]
    assert [(turn.state, turn.detail) for turn in turns] == [
        ("waiting", ""),
        ("streaming", "act"),
        ("tools", "act"),
        ("waiting", ""),
        ("streaming", ""),
        ("hooks", ""),
        ("preload", ""),
        ("idle", ""),
    ]


async def test_nothing_flickers_when_no_agent_has_anything_to_do():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await breathe()
        changes = heard(player, "change")
        await player.send("Hello")
    states = [change.turn.state for change in changes if isinstance(change, TurnChanged)]
    assert states == ["waiting", "streaming", "idle"]


async def test_a_retry_is_told_with_its_wait():
    world = World()
    limited = FakeResponse([b'{"error": {"message": "slow down"}}'], status=429)
    limited.headers = {"retry-after": "3"}
    world.transport.script.append(limited)
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        changes = heard(player, "change")
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe()
        turns = [change.turn for change in changes if isinstance(change, TurnChanged)]
        turn = next(turn for turn in turns if turn.seconds)
        assert (turn.state, turn.seconds) == ("retrying", 3)
        await world.clock.advance(3_000)
        assert (await sending)["content"] == "Hi"


async def test_usage_and_model_are_kept_with_the_entry():
    world = World()
    world.transport.says("Hi", usage=12)
    async with playing(world, package()) as player:
        await player.send("Hello")
        assert player.entries[-1].usage["total_tokens"] == 12
        assert player.entries[-1].model == "big"
