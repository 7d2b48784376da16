"""What agents may spend: whose calls are metered, both caps, the persisted total."""

from __future__ import annotations

import pytest
from personae.errors import PersonaeError

from tests.player.support import World, agent, breathe, package, playing

MODEL = ("studio.model",)


def asker(answers):
    """Functions of an agent that calls the model from everywhere, and notes what it got."""

    async def ask(studio):
        try:
            answers.append(await studio.request("callModel", "Be brief.", [], 10))
        except PersonaeError as error:
            answers.append(error.message)

    async def tool(name, args, store, studio, context):
        await ask(studio)

    async def hook(event, store, studio, context):
        await ask(studio)

    async def command(args, store, studio, context):
        await ask(studio)

    return {"onToolCall": tool, "onAfterResponse": hook, "ask": command}


def total(world):
    [head] = world.storage.json("conversations").values()
    return head["tokensSpent"]


async def test_calls_from_a_tool_are_metered_and_the_total_is_kept():
    answers: list = []
    world = World({"a": asker(answers)})
    world.transport.calls(("act", {}))
    world.transport.replies("a haiku", tokens=70)
    world.transport.says("Done.")
    character = package(agent("a", "act", apis=MODEL))
    async with playing(world, character) as player:
        await player.send("Go")
        assert answers == ["a haiku"]
        assert player.agents()[0]["tokensSpent"] == {"response": 70, "conversation": 70}
    assert total(world) == 70
    async with playing(world, character) as again:
        assert again.agents()[0]["tokensSpent"]["conversation"] == 70


async def test_calls_from_a_hook_are_metered():
    answers: list = []
    world = World({"a": asker(answers)})
    world.transport.says("Hi")
    world.transport.replies("a haiku", tokens=70)
    async with playing(world, package(agent("a", hooks=("afterResponse",), apis=MODEL))) as player:
        await player.send("Go")
    assert total(world) == 70


async def test_calls_from_a_command_are_not_metered_nor_capped():
    answers: list = []
    world = World({"a": asker(answers)})
    world.transport.replies("a haiku", tokens=70)
    character = package(agent("a", commands={"ask": "ask"}, apis=MODEL))
    async with playing(world, character, limits={"response": 0, "conversation": 0}) as player:
        await player.run_command("@ask", "")
        assert answers == ["a haiku"]
        assert player.agents()[0]["tokensSpent"]["conversation"] == 0


@pytest.mark.parametrize(
    ("limits", "answers_expected"),
    [
        ({"response": 100}, ["one", "two", "budget exhausted for this response"]),
        ({"conversation": 100}, ["one", "two", "budget exhausted for this conversation"]),
        ({"response": 0}, ["budget exhausted for this response"] * 3),
    ],
)
async def test_a_spent_cap_refuses_the_next_call(limits, answers_expected):
    answers: list = []
    world = World({"a": asker(answers)})
    world.transport.calls(("act", {}), ("act", {}), ("act", {}))
    if limits != {"response": 0}:
        world.transport.replies("one", tokens=60)
        world.transport.replies("two", tokens=60)
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act", apis=MODEL)), limits=limits) as player:
        assert (await player.send("Go"))["content"] == "Done."
    assert all(part in answer for part, answer in zip(answers_expected, answers, strict=True))


async def test_the_response_cap_starts_anew_with_each_response_the_conversations_does_not():
    answers: list = []
    world = World({"a": asker(answers)})
    for text in ("one", "two"):
        world.transport.calls(("act", {}))
        world.transport.replies(text, tokens=60)
        world.transport.says("Done.")
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    limits = {"response": 50, "conversation": 100}
    async with playing(world, package(agent("a", "act", apis=MODEL)), limits=limits) as player:
        for _ in range(3):
            await player.send("Go")
    assert answers[:2] == ["one", "two"]
    assert "for this conversation" in answers[2]


async def test_defaults_come_from_the_user_only():
    character = package(agent("a"), config={"name": "Ada", "limits": {"response": 10**9}})
    async with playing(World(), character) as player:
        assert (player.settings.limits.response, player.settings.limits.conversation) == (
            32_000,
            1_000_000,
        )


async def test_tokens_are_estimated_when_the_provider_does_not_count():
    answers: list = []
    world = World({"a": asker(answers)})
    world.transport.calls(("act", {}))
    world.transport.says("a haiku of some length")
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act", apis=MODEL))) as player:
        await player.send("Go")
        assert answers == ["a haiku of some length"]
        assert player.agents()[0]["tokensSpent"]["conversation"] > 0


async def test_a_fork_takes_the_spent_total_along():
    world = World({"a": asker([])})
    world.transport.calls(("act", {}))
    world.transport.replies("a haiku", tokens=70)
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act", apis=MODEL))) as player:
        await player.send("Go")
        await player.fork(player.entries[0].id)
        await breathe()
        assert player.agents()[0]["tokensSpent"]["conversation"] == 70
