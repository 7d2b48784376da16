"""What providers do, as a conversation meets it: cut answers, pictures, refusals, signatures."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.fakes import FakeResponse, sse
from tests.player.support import World, agent, package, playing, roles

PICTURE = "data:image/png;base64,iVBORw0KGgo="
SIGN = {"google": {"thought_signature": "AAA"}}


def answers(world: World, *chunks: Any, done: bool = True) -> None:
    pieces = [sse({"choices": [chunk]}) for chunk in chunks]
    world.transport.script.append(FakeResponse([*pieces, *[b"data: [DONE]\n\n"] * done]))


def refuses(world: World, status: int, message: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    world.transport.script.append(FakeResponse([body], status))


def said(text: str, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {"index": 0, "delta": {"content": text, **more}, "finish_reason": finish}


def called(**more: Any) -> dict[str, Any]:
    function = {"name": "roll", "arguments": "{}"}
    call = {"index": 0, "id": "c", "type": "function", "function": function, **more}
    return said("", "tool_calls", tool_calls=[call])


@pytest.mark.parametrize(
    ("finish", "done", "cut"),
    [("MAX_TOKENS", True, "length"), (None, False, "end"), ("SAFETY", True, "filter")],
)
async def test_an_answer_that_is_not_whole_says_so_and_can_go_on(
    finish: str | None, done: bool, cut: str
) -> None:
    world = World()
    answers(world, said("Once upon", finish), done=done)
    world.transport.says(" a time.")
    async with playing(world, package()) as player:
        reply = await player.send("Tell me")
        assert reply == {"role": "assistant", "content": "Once upon", "stopped": True, "cut": cut}
        assert (await player.continue_())["content"] == " a time."
    async with playing(world, package()) as again:
        marks = [(one.get("stopped"), one.get("cut")) for one in again.get_conversation()]
        assert marks == [(None, None), (True, cut), (None, None)]


async def test_pictures_are_kept_and_never_sent_back() -> None:
    world = World()
    image = {"type": "image_url", "image_url": {"url": PICTURE}}
    answers(world, said("", "stop", images=[image]))
    world.transport.says("A bird.")
    async with playing(world, package()) as player:
        assert (await player.send("Draw"))["pictures"] == [PICTURE]
        await player.send("What is it?")
    async with playing(world, package()) as again:
        assert again.get_conversation()[1]["pictures"] == [PICTURE]
    assert "iVBORw" not in json.dumps(world.transport.bodies[1])


async def test_tools_that_are_refused_are_said_once_and_remembered_across_sessions() -> None:
    world = World({"a.dice": {"onToolCall": lambda *_: "six"}})
    refuses(world, 500, "tools param requires --jinja flag")
    for text in ("One.", "Two.", "Three."):
        world.transport.says(text)
    dice = package(agent("a.dice", "roll"))
    async with playing(world, dice) as player:
        await player.send("Hi")
        await player.send("Again")
        logs = [text for role, text in roles(player) if role == "log"]
        assert ["--jinja" in text for text in logs] == [True]
    async with playing(world, dice) as again:
        await again.send("Hi")
        assert len([role for role, _ in roles(again) if role == "log"]) == 1
    assert ["tools" in body for body in world.transport.bodies] == [True, False, False, False]


async def test_a_signature_goes_back_within_the_turn_and_to_nobody_else() -> None:
    world = World({"a.dice": {"onToolCall": lambda *_: "six"}})
    for text in ("Six.", "Bye."):
        answers(world, called(extra_content=SIGN))
        world.transport.says(text)
    async with playing(world, package(agent("a.dice", "roll"))) as player:
        await player.send("Roll")
        assert "extra_content" in json.dumps(world.transport.bodies[1])
        await player.send("And again")
        assert "AAA" not in json.dumps(world.transport.bodies[2])
        assert json.dumps(world.transport.bodies[3]).count("AAA") == 1
        entry = next(one for one in player.entries if one.tool_calls)
        assert (entry.tool_calls[0].fields, bool(entry.source)) == ({"extra_content": SIGN}, True)


async def test_another_model_asked_in_the_same_turn_gets_no_signature() -> None:
    def roll(*_: Any) -> str:
        player.configure(model="other")
        return "six"

    world = World({"a.dice": {"onToolCall": roll}})
    answers(world, called(extra_content=SIGN))
    world.transport.says("Six.")
    async with playing(world, package(agent("a.dice", "roll"))) as player:
        await player.send("Roll")
    assert [body["model"] for body in world.transport.bodies] == ["big", "other"]
    assert "AAA" not in json.dumps(world.transport.bodies[1])


async def test_a_reply_that_lost_its_call_to_the_provider_is_asked_again() -> None:
    world = World()
    refuses(world, 400, "Failed to call a function. See 'failed_generation' for more details.")
    world.transport.says("Fine.")
    async with playing(world, package()) as player:
        task = asyncio.ensure_future(player.send("Hi"))
        while not task.done():
            await world.clock.advance(1_000)
        assert task.result()["content"] == "Fine."
