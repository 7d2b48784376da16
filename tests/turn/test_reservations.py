"""Money: what agents may cost is reserved before they ask, and not before the user has acted."""

from __future__ import annotations

import asyncio

import pytest
from personae.errors import ModelError, PersonaeError

from tests.fakes import FakeResponse
from tests.player.support import World, agent, breathe, package, playing
from tests.turn.test_call_model import household

MODEL = ("studio.model",)
BODY = 21
"""Tokens of the request that ``asks`` makes, without its reply."""


def asks(times=1, *, system="Go on.", messages=(), most=100, answers=None, wait=True):
    """A function of an agent that asks the model ``times`` times at once."""
    heard = [] if answers is None else answers

    async def one(studio):
        try:
            heard.append(await studio.request("callModel", system, list(messages), most))
        except PersonaeError as error:
            heard.append((error.code, error.message))

    async def ask(*arguments):
        studio = arguments[-2]
        calls = asyncio.gather(*(one(studio) for _ in range(times)))
        if wait:
            await calls
        else:
            await breathe()

    return ask


def spent(player):
    return player.agents()[0]["tokensSpent"]["conversation"]


def codes(answers):
    return [answer if isinstance(answer, str) else answer[0] for answer in answers]


async def play(functions, *, replies=(), limits=None, **manifest):
    """One turn in which the agent's tool runs; the world and what was spent."""
    world = World({"a": functions})
    world.transport.calls(("act", {}))
    world.transport.script += replies
    world.transport.says("Done.")
    async with playing(
        world, package(agent("a", "act", apis=MODEL, **manifest)), limits=limits
    ) as player:
        await player.send("Go")
        return world, spent(player), player.agents()[0]["modelCalls"]


@pytest.mark.parametrize("cap", ["response", "conversation"])
async def test_parallel_calls_never_go_over_a_cap_together(cap):
    answers: list = []
    world = World()
    for _ in range(3):
        world.transport.replies("ok", tokens=110)
    limits = {cap: 3 * (BODY + 100) + 50}
    asked, total, account = await play(
        {"onToolCall": asks(32, answers=answers)}, replies=world.transport.script, limits=limits
    )
    assert len(asked.transport.bodies) == 2 + 3, "three fit; the character's own are two"
    assert sorted(codes(answers)) == ["budget_exhausted"] * 29 + ["ok"] * 3
    assert f"budget exhausted for this {cap}" in next(a[1] for a in answers if a != "ok")
    assert total == 330 <= limits[cap]
    assert account == {"spent": 330, "reserved": 0, "refused": 29}


async def test_what_is_held_for_calls_under_way_is_shown_and_given_back():
    held = asyncio.Event()
    world = World({"a": {"onToolCall": asks(2)}})
    world.transport.calls(("act", {}))
    for _ in range(2):
        world.transport.replies("ok", tokens=40)
        world.transport.script[-1]._pieces.insert(0, held)
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act", apis=MODEL))) as player:
        sending = asyncio.ensure_future(player.send("Go"))
        await breathe()
        during = player.agents()[0]["modelCalls"]
        assert during == {"spent": 0, "reserved": 2 * (BODY + 100), "refused": 0}
        held.set()
        await sending
        assert player.agents()[0]["modelCalls"] == {"spent": 80, "reserved": 0, "refused": 0}


async def test_a_call_that_nobody_waits_for_is_paid_all_the_same():
    held = asyncio.Event()
    world = World()
    world.transport.replies("never read")
    world.transport.script[-1]._pieces.insert(0, held)
    _, total, account = await play({"onToolCall": asks(wait=False)}, replies=world.transport.script)
    assert total == account["spent"] == BODY + 100


async def test_a_call_that_is_stopped_is_paid():
    world = World({"a": {"onToolCall": asks()}})
    world.transport.calls(("act", {}))
    world.transport.replies("never read")
    world.transport.script[-1]._pieces.insert(0, asyncio.Event())
    async with playing(world, package(agent("a", "act", apis=MODEL))) as player:
        sending = asyncio.ensure_future(player.send("Go"))
        await breathe()
        player.stop()
        assert (await sending)["stopped"]
        assert spent(player) == BODY + 100
    [head] = world.storage.json("conversations").values()
    assert head["tokensSpent"] == BODY + 100


@pytest.mark.parametrize(
    ("answer", "cost"),
    [
        (FakeResponse([b'{"error": {"message": "no"}}'], status=400), 0),
        (FakeResponse([b"<html>"]), BODY + 100),
        (ModelError("model_unreachable", "No answer.", status=None), 0),
    ],
)
async def test_a_call_that_fails_costs_what_the_provider_may_charge(answer, cost):
    answers: list = []
    repeated = [answer] * (4 if isinstance(answer, ModelError) else 1)
    world = World({"a": {"onToolCall": asks(answers=answers)}})
    world.transport.calls(("act", {}))
    world.transport.script += repeated
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act", apis=MODEL))) as player:
        sending = asyncio.ensure_future(player.send("Go"))
        await world.clock.advance(30_000)
        await sending
        assert spent(player) == cost
        assert player.agents()[0]["modelCalls"]["reserved"] == 0
    assert isinstance(answers[0], tuple)


async def test_messages_without_words_are_not_free():
    answers: list = []
    many = [{"role": "user", "content": ""}] * 20_000
    asked, total, _ = await play(
        {"onToolCall": asks(messages=many, answers=answers)}, limits={"response": 100_000}
    )
    assert codes(answers) == ["budget_exhausted"]
    assert (len(asked.transport.bodies), total) == (2, 0)


async def test_a_provider_that_does_not_count_is_estimated_as_it_was_reserved():
    world = World()
    world.transport.says("four")
    _, total, _ = await play({"onToolCall": asks()}, replies=world.transport.script)
    assert total == BODY + 1


async def test_what_a_response_left_under_way_is_not_the_next_ones():
    world = World({"a": {"onToolCall": asks(wait=False)}})
    for _ in range(2):
        world.transport.calls(("act", {}))
        world.transport.replies("never read")
        world.transport.script[-1]._pieces.insert(0, asyncio.Event())
        world.transport.says("Done.")
    limits = {"response": BODY + 100}
    async with playing(world, package(agent("a", "act", apis=MODEL)), limits=limits) as player:
        await player.send("Go")
        await player.send("Go")
        assert player.agents()[0]["tokensSpent"] == {
            "response": BODY + 100,
            "conversation": 2 * (BODY + 100),
        }


async def test_a_loop_of_a_sub_agent_that_does_not_fit_any_more_ends_with_a_note_and_is_counted():
    world, character = household()
    world.transport.calls(("keeper", {}))
    world.transport.replies("So far: nothing.", ("remember", {}), tokens=280)
    world.transport.says("Ok.")
    async with playing(world, character, limits={"response": 400}) as player:
        await player.send("Go")
        keeper = next(one for one in player.agents() if one["id"] == "s.keeper")
        result = next(entry for entry in player.entries if entry.role == "tool")
    assert result.ok and "budget exhausted for this response" in result.content
    assert keeper["modelCalls"] == {"spent": 280, "reserved": 0, "refused": 1}


# Before the user has acted.


@pytest.mark.parametrize("model", ["big", "rehearsal"])
async def test_a_start_hook_reaches_no_model_before_the_user_has_spoken(model):
    answers: list = []
    world = World({"a": {"onConversationStart": asks(32, answers=answers)}})
    character = package(agent("a", apis=MODEL, hooks=("conversationStart",)))
    async with playing(world, character, model=model) as player:
        await breathe()
        assert world.transport.bodies == []
        assert codes(answers) == ["model_before_user"] * 32
        assert player.agents()[0]["modelCalls"]["refused"] == 32
    assert "until the user has sent a message" in answers[0][1]


async def test_an_opened_conversation_is_no_permission_and_what_was_refused_is_asked_again():
    answers: list = []
    world = World({"a": {"onLoad": asks(answers=answers)}})
    character = package(agent("a", apis=MODEL, preload=True))

    for time in range(2):
        async with playing(world, character) as player:
            await breathe()
            assert codes(answers) == ["model_before_user"]
            answers.clear()
            world.transport.replies("for this request")
            world.transport.says(f"Hello {time}.")
            world.transport.replies("for the next")
            await player.send("Hello")
            await breathe()
            assert answers == ["for this request", "for the next"]
            answers.clear()


@pytest.mark.parametrize("act", ["run_command", "truncate", "regenerate", "continue_"])
async def test_what_the_user_presses_is_a_permission(act):
    answers: list = []
    functions = {"onAfterUserEdit": asks(answers=answers), "ask": asks(answers=answers)}
    functions |= {"onToolCall": lambda *_: "acted", "onAfterResponse": asks(answers=answers)}
    hooks = ("afterUserEdit", "afterResponse")
    character = package(agent("a", "act", apis=MODEL, hooks=hooks, commands={"ask": "ask"}))
    world = World({"a": functions})
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    world.transport.replies("after")
    async with playing(world, character) as player:
        await player.send("Go")
    answers.clear()
    async with playing(world, character) as player:
        await breathe()
        if act == "regenerate":
            world.transport.replies("pressed")
        if act in ("regenerate", "continue_"):
            world.transport.says("Done.")
        world.transport.replies("pressed")
        arguments = {"run_command": ("ask",), "truncate": (player.entries[0].id,)}
        await getattr(player, act)(*arguments.get(act, ()))
        await breathe()
    assert set(answers) == {"pressed"}


async def test_looking_at_the_prompt_is_no_permission():
    answers: list = []
    world = World({"a": {"onLoad": asks(answers=answers)}})
    async with playing(world, package(agent("a", apis=MODEL, preload=True))) as player:
        await player.prompt_preview()
        await player.rename_conversation(player.conversation_id, "Mine")
        await player.prompt_preview()
    assert set(codes(answers)) == {"model_before_user"}
    assert world.transport.bodies == []


async def test_news_of_an_edit_that_needs_a_model_waits_for_the_user():
    answers: list = []
    functions = {"onAfterUserEdit": asks(answers=answers), "onToolCall": lambda *_: "acted"}
    character = package(agent("a", "act", apis=MODEL, hooks=("afterUserEdit",)))
    world = World({"a": functions})
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    async with playing(world, character) as player:
        await player.send("Go")
        held = asyncio.Event()
        world.transport.on_open = held.wait
        edit = asyncio.ensure_future(player.truncate(player.entries[0].id))
        await breathe()
        edit.cancel()
    world.transport.on_open = None
    answers.clear()
    async with playing(world, character) as player:
        await breathe()
        assert answers == [], "nobody has pressed anything in this tab"
        world.transport.replies("heard")
        world.transport.says("Hello.")
        await player.send("Hello")
        assert answers == ["heard"]
