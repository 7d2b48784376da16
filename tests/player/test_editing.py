"""User edits in the open conversation: hooks, responses, stores, counters."""

from __future__ import annotations

import asyncio

import pytest
from personae.errors import UsageError

from tests.player.support import World, agent, breathe, package, playing, roles


def world_with_listener(events):
    def act(name, args, store, studio, context):
        store.setdefault("ids", []).append(context["toolCallId"])
        return f"did {context['toolCallId']}"

    def after(event, store, studio, context):
        events.append(event)
        gone = event["deletedToolCallIds"]
        store["ids"] = [number for number in store.get("ids", []) if number not in gone]

    return World({"a": {"onToolCall": act, "onAfterUserEdit": after}})


CHARACTER = package(agent("a", "act", hooks=("afterUserEdit",)))


async def talked(world, player, turns=2):
    """``turns`` turns, each with one call: user, round, result, answer."""
    for turn in range(turns):
        world.transport.calls(("act", {}))
        world.transport.says(f"answer {turn + 1}")
        await player.send(f"message {turn + 1}")


EDITS = [
    (lambda p, ids: p.truncate(ids[3]), [2], 1),
    (lambda p, ids: p.delete(ids[3]), [1], 2),
    (lambda p, ids: p.reject(ids[7]), [2], 1),
    (lambda p, ids: p.clear(), [1, 2], 0),
]


@pytest.mark.parametrize(("edit", "deleted", "viable"), EDITS)
async def test_agents_hear_which_calls_an_edit_took(edit, deleted, viable):
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player)
        await edit(player, [entry.id for entry in player.entries])
        assert events == [{"deletedToolCallIds": deleted, "lastViableToolCallId": viable}]
        left = [number for number in (1, 2) if number not in deleted]
        assert await player.agent_store("a") == {"ids": left}
        kept = roles(player)
    async with playing(world, CHARACTER) as again:
        assert roles(again) == kept
        assert await again.agent_store("a") == {"ids": left}


async def test_an_edit_that_takes_no_calls_tells_nobody():
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        await player.edit(player.entries[0].id, "changed")
        await player.delete(player.entries[0].id)
        assert events == []
        assert roles(player)[0] == ("assistant", "")


async def test_a_rejected_response_is_reported_once():
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        answer = player.entries[-1].id
        await player.reject(answer)
        await player.reject(answer)
        await player.delete(answer)
        assert [event["deletedToolCallIds"] for event in events] == [[1]]
        assert roles(player) == [("user", "message 1")]


async def test_regenerate_removes_tells_and_answers_again():
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        world.transport.calls(("act", {}))
        world.transport.says("another")
        assert (await player.regenerate())["content"] == "another"
        assert events == [{"deletedToolCallIds": [1], "lastViableToolCallId": 0}]
        assert await player.agent_store("a") == {"ids": [2]}
        assert [entry.number for entry in player.entries if entry.role == "tool"] == [2]
    assert len(world.transport.bodies) == 4


async def test_regenerate_after_a_rejection_keeps_the_rejected_one_and_does_not_send_it():
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        await player.reject(player.entries[-1].id)
        world.transport.says("better")
        await player.regenerate()
        assert [e.content for e in player.entries if e.rejected] == ["", "did 1", "answer 1"]
        assert player.entries[-1].content == "better"
    assert [m["content"] for m in world.transport.bodies[-1]["messages"]][1:] == ["message 1"]
    assert len(events) == 1


@pytest.mark.parametrize(("text", "said"), [(None, "message 1"), ("other", "other")])
async def test_resubmit_truncates_and_answers(text, said):
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player)
        world.transport.says("again")
        assert (await player.resubmit(player.entries[0].id, text))["content"] == "again"
        assert roles(player) == [("user", said), ("assistant", "again")]
        assert events == [{"deletedToolCallIds": [1, 2], "lastViableToolCallId": 0}]


async def test_continue_goes_on_from_what_there_is():
    world, gate = World(), asyncio.Event()
    world.transport.says("Half a ", gate)
    world.transport.says("sentence.")
    async with playing(world, package()) as player:
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe()
        player.stop()
        await sending
        await player.continue_()
        assert roles(player)[1:] == [("assistant", "Half a "), ("assistant", "sentence.")]
    assert world.transport.bodies[-1]["messages"][-1] == {"role": "assistant", "content": "Half a "}


async def test_a_response_that_went_on_is_one_also_for_regenerate_and_delete():
    world = World()
    async with playing(world, package()) as player:
        for text in ("first", "one "):
            world.transport.says(text)
            await player.send(f"to {text}")
        world.transport.says("two")
        await player.continue_()
        assert len({entry.reply_to for entry in player.entries[3:]}) == 1
        await player.edit(player.entries[3].id, "ONE ")
        await player.edit(player.entries[4].id, "TWO")
        assert [content for _, content in roles(player)[3:]] == ["ONE ", "TWO"]
        world.transport.says("anew")
        await player.regenerate()
        assert [content for _, content in roles(player)] == ["to first", "first", "to one ", "anew"]


async def test_regenerate_replaces_the_newest_response_only_also_without_its_message():
    world = World()
    async with playing(world, package()) as player:
        for text in ("first", "second"):
            world.transport.says(text)
            await player.send(f"to {text}")
        await player.delete(player.entries[2].id)
        world.transport.says("anew")
        await player.regenerate()
        assert [content for _, content in roles(player)] == ["to first", "first", "anew"]


async def test_numbers_are_never_handed_out_twice_also_after_a_clear():
    world = world_with_listener([])
    async with playing(world, CHARACTER) as player:
        await talked(world, player)
        await player.clear()
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        assert [entry.number for entry in player.entries if entry.role == "tool"] == [3]


async def test_a_fork_copies_and_tells_in_the_new_conversation_only():
    events: list = []
    world = world_with_listener(events)
    async with playing(world, CHARACTER) as player:
        await talked(world, player)
        source, kept = player.conversation_id, roles(player)
        forked = await player.fork(player.entries[3].id)
        assert (player.conversation_id, forked != source) == (forked, True)
        assert roles(player) == kept[:4]
        assert events == [{"deletedToolCallIds": [2], "lastViableToolCallId": 1}]
        assert await player.agent_store("a") == {"ids": [1]}
        await talked(world, player, 1)
        assert [entry.number for entry in player.entries if entry.role == "tool"] == [1, 3]
        await player.load_conversation(source)
        assert roles(player) == kept
        assert await player.agent_store("a") == {"ids": [1, 2]}
        titles = [item["title"] for item in await player.list_conversations()]
        assert sorted(titles) == ["message 1", "message 1 (fork)"]


async def test_sends_wait_while_hooks_of_an_edit_run():
    gate, order = asyncio.Event(), []

    async def after(event, store, studio, context):
        await gate.wait()
        order.append("hook")

    world = World({"a": {"onToolCall": lambda *_: "x", "onAfterUserEdit": after}})
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        clearing = asyncio.ensure_future(player.clear())
        await breathe()
        world.transport.says("Hi")
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe()
        assert len(world.transport.bodies) == 2
        gate.set()
        await clearing
        order.append((await sending)["content"])
    assert order == ["hook", "Hi"]


REPLACING = [
    (lambda p: p.regenerate(), ["message 1", "", "x", "answer 1"], []),
    (lambda p: p.resubmit(p.entries[0].id, "other"), ["other"], [1]),
]


@pytest.mark.parametrize(("replace", "left_there", "told"), REPLACING)
async def test_no_response_when_the_user_left_while_the_hooks_ran(replace, left_there, told):
    async def after(event, store, studio, context):
        await asyncio.sleep(3600)

    world = World({"a": {"onToolCall": lambda *_: "x", "onAfterUserEdit": after}})
    async with playing(world, CHARACTER) as player:
        await talked(world, player, 1)
        left = player.conversation_id
        again = asyncio.ensure_future(replace(player))
        await breathe()
        await player.new_conversation()
        assert (await again)["stopped"] is True
        assert len(world.transport.bodies) == 2
        await breathe()
        world.sandbox.agents["a"]["onAfterUserEdit"] = lambda event, store, *_: store.update(event)
        await player.load_conversation(left)
        await breathe()
        assert [entry.content for entry in player.entries] == left_there
        assert (await player.agent_store("a")).get("deletedToolCallIds", []) == told, "told later"


@pytest.mark.parametrize("apis", [(), ("studio.model",)])
async def test_a_hook_of_an_edit_has_eight_seconds_and_the_edit_stands(apis):
    async def hang(event, store, studio, context):
        await asyncio.sleep(3600)

    world = World({"a": {"onToolCall": lambda *_: "x", "onAfterUserEdit": hang}})
    async with playing(
        world, package(agent("a", "act", hooks=("afterUserEdit",), apis=apis))
    ) as player:
        await talked(world, player, 1)
        clearing = asyncio.ensure_future(player.clear())
        await world.clock.advance(8_000)
        await clearing
        assert roles(player) == []
        assert world.storage.tables["entries"] == {}


async def test_what_is_impossible_is_refused_and_changes_nothing():
    async with playing(World(), package()) as player:
        for attempt, code in [
            (player.regenerate(), "nothing_to_answer"),
            (player.continue_(), "nothing_to_answer"),
            (player.resubmit("e9"), "unknown_entry"),
            (player.fork("e9"), "unknown_entry"),
            (player.edit("e9", "x"), "unknown_entry"),
        ]:
            with pytest.raises(UsageError) as caught:
                await attempt
            assert caught.value.code == code
        assert player.turn.state == "idle"
