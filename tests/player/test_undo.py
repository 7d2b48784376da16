"""Undo takes back its own edit and nothing that happened since."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.conversation.call_numbers import numbers
from personae.errors import ModelError, PersonaeError, UsageError
from personae.player.undoing import Deed

from tests.fakes import sse
from tests.player.support import World, agent, breathe, package, playing, roles

CHARACTER = package(agent("a", "act", hooks=("afterUserEdit",)))


def noting(events=None):
    """A world whose agent notes the calls it knows of, and forgets those that are gone."""

    def act(name, args, store, studio, context):
        store.setdefault("ids", []).append(context["toolCallId"])
        return f"did {context['toolCallId']}"

    def after(event, store, studio, context):
        if events is not None:
            events.append(event)
        gone = event["deletedToolCallIds"]
        store["ids"] = [number for number in store.get("ids", []) if number not in gone]

    return World({"a": {"onToolCall": act, "onAfterUserEdit": after}})


async def say(world, player, text, *, calls=False, answer="yes"):
    if calls:
        world.transport.calls(("act", {}))
    world.transport.says(answer)
    await player.send(text)


async def test_what_was_said_since_stays():
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one")
        await say(world, player, "two")
        deed = Deed()
        await player.delete(player.entries[0].id, deed=deed)
        await say(world, player, "three", calls=True, answer="newest")
        await player.undo(deed)
        said = [content for role, content in roles(player) if role == "user"]
        assert said == ["one", "two", "three"]
        assert roles(player)[-1] == ("assistant", "newest")
        assert await player.agent_store("a") == {"ids": [1]}
        there = roles(player)
    async with playing(world, CHARACTER) as again:
        assert roles(again) == there


EDITS = [
    lambda p, d: p.truncate(p.entries[3].id, deed=d),
    lambda p, d: p.delete(p.entries[3].id, deed=d),
    lambda p, d: p.reject(p.entries[-1].id, deed=d),
    lambda p, d: p.edit(p.entries[0].id, "other", deed=d),
    lambda p, d: p.regenerate(deed=d),
    lambda p, d: p.resubmit(p.entries[0].id, "other", deed=d),
    lambda p, d: p.clear(deed=d),
]


@pytest.mark.parametrize("edit", EDITS)
async def test_undo_at_once_restores_entries_and_stores(edit):
    events: list = []
    world = noting(events)
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one", calls=True)
        await say(world, player, "two", calls=True)
        before, store = list(player.entries), await player.agent_store("a")
        world.transport.calls(("act", {}))
        world.transport.says("new")
        deed = Deed()
        await edit(player, deed)
        assert list(player.entries) != before
        events.clear()
        await player.undo(deed)
        assert list(player.entries) == before
        assert await player.agent_store("a") == store
        # Only what the undo itself removed is told.
        made = [event["deletedToolCallIds"] for event in events]
        assert made in ([], [[3]])
    async with playing(world, CHARACTER) as again:
        assert list(again.entries) == before
        assert await again.agent_store("a") == store


async def test_undo_takes_back_news_that_an_agent_has_not_heard():
    gate, heard = asyncio.Event(), []

    async def after(event, store, studio, context):
        heard.append(event["deletedToolCallIds"])
        await gate.wait()

    world = World({"a": {"onToolCall": lambda *_: "x", "onAfterUserEdit": after}})
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one", calls=True)
        deed = Deed()
        clearing = asyncio.ensure_future(player.clear(deed=deed))
        await breathe()
        player.stop()
        await clearing
        await player.undo(deed)
        gate.set()
        await say(world, player, "two")
        assert heard == [[1]], "told once, cut off, and never again: the call is there"
        assert all(not head.get("edit") for head in world.storage.json("conversations").values())


REFUSED = [
    lambda w, p: p.edit(p.entries[0].id, "changed again"),
    lambda w, p: p.delete(p.entries[0].id),
]


@pytest.mark.parametrize("since", REFUSED)
async def test_a_message_that_changed_again_is_not_undone(since):
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one")
        deed = Deed()
        await player.edit(player.entries[0].id, "changed", deed=deed)
        await since(world, player)
        await refused(player, deed, ["one", "yes"])


async def test_a_reply_that_the_conversation_went_on_from_is_not_undone():
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one", answer="first")
        world.transport.says("second")
        deed = Deed()
        await player.regenerate(deed=deed)
        await say(world, player, "two")
        await refused(player, deed, ["one", "first"])


async def test_a_store_that_rests_on_the_edit_is_not_undone():
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one", calls=True)
        before = [entry.content for entry in player.entries]
        deed = Deed()
        await player.delete(player.entries[-1].id, deed=deed)
        await say(world, player, "two", calls=True)
        await refused(player, deed, before)


async def refused(player, deed, before):
    """Undo says why and changes nothing; the conversation of before is there for a copy."""
    entries, store = list(player.entries), await player.agent_store("a")
    with pytest.raises(UsageError) as caught:
        await player.undo(deed)
    assert caught.value.code == "cannot_undo"
    assert list(player.entries) == entries
    assert await player.agent_store("a") == store
    copy = await player.restore(deed.before, title="as it was")
    await player.load_conversation(copy)
    assert [entry.content for entry in player.entries] == before


async def test_undo_happens_once_and_in_its_own_conversation_only():
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one")
        deed, other = Deed(), Deed()
        await player.clear(deed=deed)
        await player.undo(deed)
        for one in (deed, other):
            with pytest.raises(UsageError, match="undo"):
                await player.undo(one)
        await player.clear(deed=other)
        await player.new_conversation()
        with pytest.raises(UsageError, match="another conversation"):
            await player.undo(other)


# A response that was to be replaced


@pytest.mark.parametrize("again", [lambda p: p.regenerate(), lambda p: p.resubmit(p.entries[0].id)])
@pytest.mark.parametrize("thinks", [False, True])
async def test_the_former_response_stays_when_it_is_stopped_before_a_word(again, thinks):
    world, gate = noting(), asyncio.Event()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one", calls=True)
        before = list(player.entries)
        thought = sse({"choices": [{"delta": {"reasoning_content": "Hm"}}]})
        pieces = [thought] if thinks else []
        world.transport.says(*pieces, gate)
        work = asyncio.ensure_future(again(player))
        await breathe()
        player.stop()
        await work
        assert list(player.entries) == before
        assert await player.agent_store("a") == {"ids": [1]}
    async with playing(world, CHARACTER) as later:
        assert list(later.entries) == before


async def test_the_former_response_stays_when_the_model_refuses():
    world = noting()
    async with playing(world, CHARACTER, base_url="https://model.test/v1", model="") as player:
        player.configure(model="big")
        await say(world, player, "one", calls=True)
        before = list(player.entries)
        player.configure(model="")
        with pytest.raises(ModelError):
            await player.regenerate()
        assert list(player.entries) == before
        assert await player.agent_store("a") == {"ids": [1]}
        player.configure(model="big")
        world.transport.says("anew")
        await player.regenerate()
        assert roles(player) == [("user", "one"), ("assistant", "anew")]


async def test_what_was_said_of_a_new_response_stays():
    world, gate = noting(), asyncio.Event()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "one")
        world.transport.says("A wor", gate)
        work = asyncio.ensure_future(player.regenerate())
        await breathe()
        player.stop()
        await work
        assert roles(player) == [("user", "one"), ("assistant", "A wor")]


# Any sequence

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("say", "call", "delete", "reject", "truncate", "edit", "regenerate", "fail"),
                *("resubmit", "continue", "clear", "undo", "undo", "undo"),
            ]
        ),
        st.integers(0, 30),
    ),
    min_size=2,
    max_size=12,
)


@given(STEPS)
@settings(max_examples=60)
def test_any_sequence_leaves_what_a_replay_explains(steps):
    asyncio.run(_play(steps))


async def _play(steps):
    world = noting()
    async with playing(world, CHARACTER) as player:
        await say(world, player, "begin", calls=True)
        deeds: list[Deed] = []
        for name, number in steps:
            await _step(world, player, deeds, name, number)
            _explained(player, await player.agent_store("a"))
        there, store = list(player.entries), await player.agent_store("a")
    async with playing(world, CHARACTER) as again:
        assert list(again.entries) == there
        assert await again.agent_store("a") == store


def _explained(player, store):
    """Order, pairs, numbers, and an agent that knows the calls in the history and no others."""
    entries = player.entries
    ids = [entry.id for entry in entries]
    assert ids == sorted(set(ids))
    asked = {(call.id, call.number) for entry in entries for call in entry.tool_calls}
    answered = {(e.tool_call_id, e.number) for e in entries if e.role == "tool"}
    assert asked == answered
    assert sorted(store.get("ids", [])) == sorted(numbers(entries))


async def _step(world, player, deeds, name, number):
    entries = player.entries
    at = entries[number % len(entries)].id if entries else "none"
    if name == "undo":
        if deeds:
            await _undo(player, deeds[number % len(deeds)])
        return
    world.transport.script.clear()
    if name == "call" or number % 2:
        world.transport.calls(("act", {}))
    world.transport.says(f"answer {number}")
    deed = Deed()
    work = {
        "say": lambda: player.send("Hello"),
        "call": lambda: player.send("Call"),
        "delete": lambda: player.delete(at, deed=deed),
        "reject": lambda: player.reject(at, deed=deed),
        "truncate": lambda: player.truncate(at, deed=deed),
        "edit": lambda: player.edit(at, f"changed {number}", deed=deed),
        "regenerate": lambda: player.regenerate(deed=deed),
        "fail": lambda: _failing(player, deed),
        "resubmit": lambda: player.resubmit(at, f"other {number}", deed=deed),
        "continue": player.continue_,
        "clear": lambda: player.clear(deed=deed),
    }[name]
    with suppress(PersonaeError):
        await work()
    if deed.before is not None:
        deeds.append(deed)


async def _failing(player, deed):
    before, store = list(player.entries), await player.agent_store("a")
    model = player.settings.model
    player.configure(model="")
    with suppress(PersonaeError):
        await player.regenerate(deed=deed)
    player.configure(model=model)
    assert list(player.entries) == before
    assert await player.agent_store("a") == store


async def _undo(player, deed):
    """It takes back its own edit, or nothing at all."""
    before, store = list(player.entries), await player.agent_store("a")
    ids = {entry.id for entry in deed.before.entries} if deed.before else set()
    kept = [entry for entry in before if entry.id not in ids]
    try:
        await player.undo(deed)
    except UsageError as error:
        assert error.code == "cannot_undo"
        assert list(player.entries) == before
        assert await player.agent_store("a") == store
        return
    after = list(player.entries)
    later = {entry.id for entry in after} - ids
    gone = [entry for entry in kept if entry.id not in later]
    assert all(entry.reply_to is not None for entry in gone), "only a response that came of it goes"
    assert [entry for entry in after if entry.id not in ids] == [e for e in kept if e not in gone]
