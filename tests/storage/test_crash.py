"""The tab is killed at every step of a turn; what a new tab finds is consistent.

A kill cancels everything that runs and keeps what storage had committed; nothing of the old
player gets to clean up.
"""

from __future__ import annotations

import asyncio
import json

import pytest
from personae.conversation.repair import open_calls

from tests.fakes import FakeSandbox, World, breathe
from tests.player.support import agent, make_player, package, playing, roles


class Killed(Exception):
    """The tab died in the middle of a commit."""


def character():
    return package(
        agent("a", "act", preload=True, hooks=("conversationStart", "afterUserEdit")),
        agent("b", hooks=("beforeResponse", "afterResponse", "afterToolCall", "afterUserEdit")),
    )


def make_world(ran: list) -> World:
    def act(name, args, store, studio, context):
        ran.append(context["toolCallId"])
        store.setdefault("ids", []).append(context["toolCallId"])
        studio.notice("log", f"ran {context['toolCallId']}")
        return f"did {context['toolCallId']}"

    def count(event, store, studio, context):
        store["heard"] = store.get("heard", 0) + 1

    def edited(event, store, studio, context):
        store.setdefault("deleted", []).append(event["deletedToolCallIds"])

    start = {"onConversationStart": count}
    hooks = ("onBeforeResponse", "onAfterResponse", "onAfterToolCall")
    return World(
        {
            "a": {"onToolCall": act, "onLoad": lambda *_: "x", "onAfterUserEdit": edited, **start},
            "b": {**dict.fromkeys(hooks, count), "onAfterUserEdit": edited},
        }
    )


def script(world: World) -> None:
    world.transport.script.clear()
    world.transport.calls(("act", {}), ("act", {}), text="Let me.")
    world.transport.calls(("act", {}))
    world.transport.says("Done.")


def kill(world: World) -> None:
    """Nothing of the old tab runs any more; its locks are free, what it stored is there."""
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    world.locks.held.clear()
    world.sandbox = FakeSandbox(world.sandbox.agents)


async def killed_at(world: World, commit: int, work) -> bool:
    """Runs ``work(player)`` and kills the tab at its n-th commit; False when it got that far."""
    player = make_player(world, character())
    await player.ready()
    await breathe()
    seen = 0

    def die(writes):
        nonlocal seen
        seen += 1
        if seen >= commit:
            raise Killed

    world.storage.on_commit = die
    task = asyncio.ensure_future(work(player))
    await breathe(300)
    finished = task.done() and not task.cancelled() and task.exception() is None
    world.storage.on_commit = lambda writes: None
    kill(world)
    await breathe()
    if task.done() and not task.cancelled():
        task.exception()
    return finished


def numbers_in(world: World) -> list[int]:
    return [
        call["toolCallId"]
        for entry in world.storage.json("entries").values()
        for call in entry.get("tool_calls", ())
    ]


async def check_consistent(world: World, ran: list) -> None:
    """What must hold in the next tab, whatever the moment of death."""
    known = numbers_in(world)
    async with playing(world, character()) as player:
        await breathe()
        assert open_calls(player.entries) == []
        assert set(ran) <= set(known), "a tool ran without a trace"
        assert len(set(ran)) == len(ran), "a tool ran twice"
        answered = [e.number for e in player.entries if e.role == "tool"]
        assert sorted(answered) == sorted(set(answered)) == sorted(known)
        world.transport.script.clear()
        world.transport.calls(("act", {}))
        world.transport.says("Fine.")
        before = list(ran)
        await player.send("Go on")
        assert ran[:-1] == before, "an old call was run again"
        assert ran[-1] > max([*known, *before], default=0), "the counter went back"
        for body in world.transport.bodies[-2:]:
            check_request(body)


def check_request(body) -> None:
    """Every call in a request has its result right behind it."""
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            continue
        assert open_calls == []
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
    assert open_calls == []


@pytest.mark.parametrize("commit", range(1, 16))
async def test_killed_in_a_turn(commit):
    ran: list = []
    world = make_world(ran)
    script(world)
    await killed_at(world, commit, lambda player: player.send("Go"))
    await check_consistent(world, ran)


async def test_a_whole_turn_is_among_the_cases_above():
    """Guards the range of the test above: a turn has fewer commits than it tries."""
    ran: list = []
    world = make_world(ran)
    script(world)
    assert await killed_at(world, 999, lambda player: player.send("Go"))
    async with playing(world, character()):
        pass
    turn = [w for writes in world.storage.commits for w in writes if w.table == "conversations"]
    assert 5 < len(turn) < 16


@pytest.mark.parametrize("commit", range(1, 5))
@pytest.mark.parametrize("edit", ["truncate", "regenerate", "clear", "reject", "fork"])
async def test_killed_in_an_edit_no_agent_misses_it_and_none_hears_it_twice(edit, commit):
    ran: list = []
    world = make_world(ran)
    script(world)
    async with playing(world, character()) as player:
        await player.send("Go")
        first, last = player.entries[0].id, player.entries[-1].id
        source = player.conversation_id
    world.transport.says("Again.")
    work = {
        "truncate": lambda player: player.truncate(first),
        "regenerate": lambda player: player.regenerate(),
        "clear": lambda player: player.clear(),
        "reject": lambda player: player.reject(last),
        "fork": lambda player: player.fork(first),
    }[edit]
    await killed_at(world, commit, work)
    async with playing(world, character()) as player:
        for item in await player.list_conversations():
            await player.load_conversation(item["id"])
            await breathe()
            heard = [(await player.agent_store(id_)).get("deleted", []) for id_ in ("a", "b")]
            gone = not any(c.number for e in player.entries if not e.rejected for c in e.tool_calls)
            copied = edit == "fork" and item["id"] == source
            assert heard == [[] if copied or not gone else [[1, 2, 3]]] * 2


async def test_killed_while_streaming_keeps_the_partial_answer():
    world, gate = World(), asyncio.Event()
    world.transport.says("Once upon ", gate)
    player = make_player(world, package())
    await player.ready()
    sending = asyncio.ensure_future(player.send("Tell"))
    await world.clock.advance(1_000)
    kill(world)
    await breathe()
    assert sending.cancelled() or sending.done()
    async with playing(world, package()) as again:
        assert roles(again) == [("user", "Tell"), ("assistant", "Once upon ")]
        assert again.entries[-1].stopped


async def test_killed_in_a_start_hook_it_fires_in_the_next_tab_for_its_store_was_not_stored():
    tries = []

    async def start(event, store, studio, context):
        tries.append(event)
        store["begun"] = len(tries)
        if len(tries) == 1:
            await asyncio.sleep(3600)

    world = World({"a": {"onConversationStart": start}})
    player = make_player(world, package(agent("a", hooks=("conversationStart",))))
    await player.ready()
    await breathe()
    kill(world)
    await breathe()
    async with playing(world, package(agent("a", hooks=("conversationStart",)))) as again:
        await breathe()
        assert await again.agent_store("a") == {"begun": 2}
        await again.new_conversation()
        await breathe()
    assert len(tries) == 3


async def test_a_counter_lost_with_the_head_is_found_in_the_entries():
    ran: list = []
    world = make_world(ran)
    script(world)
    async with playing(world, character()) as player:
        await player.send("Go")
    [key] = world.storage.tables["conversations"]
    head = json.loads(world.storage.tables["conversations"][key])
    head |= {"lastToolCallId": 0, "nextEntry": 1}
    world.storage.tables["conversations"][key] = json.dumps(head)
    await check_consistent(world, ran)
