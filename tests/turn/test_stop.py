"""Stop at any moment keeps what there is, and the next message works."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from personae.conversation.changes import AnsweringChanged, EntryAdded, EntryUpdated
from personae.errors import UsageError

from tests.player.support import World, agent, breathe, heard, package, playing, roles


async def started(player, text="Hello"):
    """A send under way."""
    task = asyncio.ensure_future(player.send(text))
    await breathe()
    return task


async def test_stop_while_streaming_keeps_the_text():
    world, gate = World(), asyncio.Event()
    world.transport.says("Half a ", gate, "sentence.")
    world.transport.says("Whole.")
    response = world.transport.script[0]
    async with playing(world, package()) as player:
        sending = await started(player)
        player.stop()
        assert await sending == {"role": "assistant", "content": "Half a ", "stopped": True}
        assert response.closed
        assert player.entries[-1].stopped
        assert player.turn.state == "idle"
        assert (await player.send("Go on"))["content"] == "Whole."
    async with playing(world, package()) as again:
        assert [entry.stopped for entry in again.entries] == [False, True, False, False]
    sent = [m["content"] for m in world.transport.bodies[-1]["messages"]]
    assert sent[1:] == ["Hello", "Half a ", "Go on"]


async def test_stop_before_anything_came_keeps_the_message_only():
    world, gate = World(), asyncio.Event()
    world.transport.says(gate, "Never said.")
    async with playing(world, package()) as player:
        messages = heard(player, "message")
        sending = await started(player)
        player.stop()
        assert await sending == {"role": "assistant", "content": "", "stopped": True}
        assert roles(player) == [("user", "Hello")]
        assert messages == []


async def test_stop_during_a_tool_call_answers_it_and_the_ones_behind_it_with_stubs():
    async def slow(name, args, store, studio, context):
        store["touched"] = True
        await asyncio.sleep(3600)

    world = World({"a.slow": {"onToolCall": slow}})
    world.transport.calls(("wait", {}), ("wait", {}), text="Wait.")
    world.transport.says("Next.")
    async with playing(world, package(agent("a.slow", "wait"))) as player:
        sending = await started(player)
        player.stop()
        assert (await sending)["stopped"] is True
        results = [entry for entry in player.entries if entry.role == "tool"]
        assert [entry.ok for entry in results] == [False, False]
        assert [entry.number for entry in results] == [1, 2]
        assert await player.agent_store("a.slow") == {}
        assert (await player.send("Go on"))["content"] == "Next."


async def test_stop_during_a_hook_after_the_response_leaves_the_response_whole():
    async def slow(event, store, studio, context):
        await asyncio.sleep(3600)

    world = World({"a.slow": {"onAfterResponse": slow}})
    world.transport.says("Whole.")
    async with playing(world, package(agent("a.slow", hooks=("afterResponse",)))) as player:
        sending = await started(player)
        assert player.turn.state == "hooks"
        player.stop()
        assert await sending == {"role": "assistant", "content": "Whole."}
        assert not player.entries[-1].stopped


async def test_a_caller_that_is_cancelled_stops_the_response_too():
    world, gate = World(), asyncio.Event()
    world.transport.says("Half", gate)
    async with playing(world, package()) as player:
        sending = await started(player)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await breathe()
        assert roles(player)[-1] == ("assistant", "Half")
        assert player.entries[-1].stopped
        assert player.turn.state == "idle"


async def test_one_response_at_a_time():
    world, gate = World(), asyncio.Event()
    world.transport.says("Yes", gate)
    async with playing(world, package()) as player:
        sending = await started(player)
        for attempt in (player.send("More"), player.regenerate(), player.clear()):
            with pytest.raises(UsageError) as caught:
                await attempt
            assert caught.value.code == "busy"
        gate.set()
        assert (await sending)["content"] == "Yes"


@pytest.mark.parametrize("function", ["onAfterResponse", "onLoad"])
async def test_what_is_sent_while_agents_follow_up_waits_for_them(function: str):
    told, gate = asyncio.Event(), asyncio.Event()

    async def slow(*values):
        if len(player.entries) == 2:
            told.set()
            await gate.wait()

    world = World({"a.slow": {function: slow}})
    world.transport.says("One.")
    world.transport.says("Two.")
    agents = package(agent("a.slow", hooks=("afterResponse",), preload=True))
    async with playing(world, agents) as player:
        first = asyncio.ensure_future(player.send("1"))
        await told.wait()
        second = asyncio.ensure_future(player.send("2"))
        third = asyncio.ensure_future(player.send("3"))
        await breathe()
        assert roles(player) == [("user", "1"), ("assistant", "One.")]
        gate.set()
        assert (await first)["content"] == "One."
        with pytest.raises(UsageError, match="A response is under way"):
            await third
        assert (await second)["content"] == "Two."


async def test_stop_reaches_a_response_that_waits_for_its_turn():
    told, gate = asyncio.Event(), asyncio.Event()

    async def stubborn(event, store, studio, context):
        told.set()
        while not gate.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await gate.wait()

    world = World({"a.slow": {"onAfterResponse": stubborn}})
    world.transport.says("One.")
    world.transport.says("Three.")
    async with playing(world, package(agent("a.slow", hooks=("afterResponse",)))) as player:
        first = asyncio.ensure_future(player.send("1"))
        await told.wait()
        assert not player.answering, "what follows a response is no response"
        changes = heard(player, "change")
        second = await started(player, "2")
        assert player.answering
        assert changes == [AnsweringChanged(True)], "the page is told at once"
        player.stop()
        gate.set()
        assert (await first)["content"] == "One."
        assert await second == {"role": "assistant", "content": "", "stopped": True}
        assert not player.answering
        assert roles(player) == [("user", "1"), ("assistant", "One."), ("user", "2")]
        assert (await player.send("3"))["content"] == "Three."


async def test_two_sends_at_once_are_refused_even_before_the_first_has_begun():
    world = World()
    world.transport.says("One")
    async with playing(world, package()) as player:
        first, second = await asyncio.gather(
            player.send("1"), player.send("2"), return_exceptions=True
        )
        assert first["content"] == "One"
        assert isinstance(second, UsageError)


async def test_stop_with_nothing_under_way_is_harmless():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        player.stop()
        assert (await player.send("Hello"))["content"] == "Hi"


async def test_leaving_the_conversation_stops_the_response_and_keeps_it():
    world, gate = World(), asyncio.Event()
    world.transport.says("Half", gate)
    async with playing(world, package()) as player:
        sending = await started(player)
        left = player.conversation_id
        await player.new_conversation()
        assert (await sending)["stopped"] is True
        assert roles(player) == []
        await player.load_conversation(left)
        assert roles(player) == [("user", "Hello"), ("assistant", "Half")]
        assert not player.read_only


async def test_nobody_is_told_what_changes_in_a_conversation_that_was_left():
    async def note(event, store, studio, context):
        studio.notice("log", "still at it")

    world, gate = World({"a": {"onAfterResponse": note}}), asyncio.Event()
    world.transport.says("Half", gate)
    async with playing(world, package(agent("a", hooks=("afterResponse",)))) as player:
        told = []
        sending = await started(player)
        left = player.conversation_id
        await player.new_conversation()
        player.on("change", lambda change: told.append(type(change)))
        assert (await sending)["stopped"] is True
        await breathe()
        assert told
        assert not {EntryAdded, EntryUpdated}.intersection(told)
        await player.load_conversation(left)
        assert player.entries[-1].content == "still at it"


async def test_an_empty_message_is_not_sent():
    async with playing(World(), package()) as player:
        with pytest.raises(UsageError) as caught:
            await player.send("  \n")
        assert caught.value.code == "empty_message"


async def test_a_conversation_that_was_just_left_can_be_deleted_at_once():
    async def slow(event, store, studio, context):
        await asyncio.sleep(3600)

    world, gate = World({"a": {"onAfterResponse": slow}}), asyncio.Event()
    world.transport.says("Half", gate)
    async with playing(world, package(agent("a", hooks=("afterResponse",)))) as player:
        sending = await started(player)
        left = player.conversation_id
        await player.new_conversation()
        await breathe()
        assert not sending.done(), "its hook still runs"
        await player.delete_conversation(left)
        assert (await sending)["stopped"] is True
        assert not any(left in key for key in world.storage.tables["entries"])
