"""The broker loop: rounds, results, refusals, limits."""

from __future__ import annotations

import pytest
from personae.errors import ModelError
from personae.turn.broker import ROUNDS_SPENT

from tests.fakes import FakeResponse, sse
from tests.player.support import World, agent, heard, package, playing, roles, tool

SIDES = {
    "type": "object",
    "properties": {"sides": {"type": "integer", "minimum": 2}},
    "required": ["sides"],
}


def dice(**functions):
    def roll(name, args, store, studio, context):
        store.setdefault("ids", []).append(context.get("toolCallId"))
        return f"rolled {args.get('sides')}"

    return World({"a.dice": {"onToolCall": roll, **functions}})


DICE = package(agent("a.dice", tool("roll", SIDES)))


def results(world):
    """What the model got as tool results in the last request."""
    return [m["content"] for m in world.transport.bodies[-1]["messages"] if m["role"] == "tool"]


async def test_several_calls_of_one_round_run_in_order_with_ids_counting_up():
    world = dice()
    world.transport.calls(("roll", {"sides": 6}), ("roll", {"sides": 8}))
    world.transport.calls(("roll", {"sides": 20}))
    world.transport.says("Done.")
    async with playing(world, DICE) as player:
        assert (await player.send("Roll"))["content"] == "Done."
        assert await player.agent_store("a.dice") == {"ids": [1, 2, 3]}
        numbers = [call.number for entry in player.entries for call in entry.tool_calls]
        assert numbers == [1, 2, 3]
        assert [e.number for e in player.entries if e.role == "tool"] == [1, 2, 3]
    assert results(world) == ["rolled 6", "rolled 8", "rolled 20"]


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (("jump", {}), "there is no tool 'jump'"),
        (("roll", "{sides: "), "cannot be used"),
        (("roll", {}), "sides"),
        (("roll", {"sides": 1}), "sides"),
        (("roll", {"sides": "six"}), "sides: must be integer"),
        (("roll", "[1]"), "not an object"),
    ],
)
async def test_unknown_tools_and_bad_arguments_answer_the_model_and_use_no_id(call, reason):
    world = dice()
    world.transport.calls(call)
    world.transport.calls(("roll", {"sides": 6}))
    world.transport.says("Sorry.")
    async with playing(world, DICE) as player:
        calls = heard(player, "toolCall")
        await player.send("Roll")
        assert await player.agent_store("a.dice") == {"ids": [1]}
        assert len(calls) == 1
        refused = next(entry for entry in player.entries if entry.role == "tool")
        assert (refused.number, refused.ok, refused.agent_id) == (None, False, None)
    assert results(world)[0].startswith("Error: ")
    assert reason in results(world)[0]
    sent = world.transport.bodies[1]["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert sent.startswith("{") and sent.endswith("}")


async def test_an_agent_that_throws_answers_with_its_message_and_keeps_its_store():
    def fail(name, args, store, studio, context):
        store["half"] = "done"
        raise ValueError("the die broke")

    world = World({"a.dice": {"onToolCall": fail}})
    world.transport.calls(("roll", {"sides": 6}))
    world.transport.says("Oh.")
    async with playing(world, DICE) as player:
        errors = heard(player, "error")
        assert (await player.send("Roll"))["content"] == "Oh."
        assert [error.detail["agentId"] for error in errors] == ["a.dice"]
        assert await player.agent_store("a.dice") == {}
        result = next(entry for entry in player.entries if entry.role == "tool")
        assert (result.ok, result.number, result.agent_id) == (False, 1, "a.dice")
    assert results(world) == ["Error: the die broke"]


@pytest.mark.parametrize(("value", "text"), [(None, ""), ("4", "4")])
async def test_results_are_text(value, text):
    world = World({"a.dice": {"onToolCall": lambda *_: value}})
    world.transport.calls(("roll", {"sides": 6}))
    world.transport.says("Oh.")
    async with playing(world, DICE) as player:
        await player.send("Roll")
    assert results(world) == [text]


async def test_after_ten_rounds_one_last_request_forbids_tools_and_the_answer_says_so():
    world = dice()
    for _ in range(10):
        world.transport.calls(("roll", {"sides": 6}))
    world.transport.says("Enough.")
    async with playing(world, DICE) as player:
        reply = await player.send("Roll for ever")
        assert reply["content"] == f"Enough.\n\n{ROUNDS_SPENT}"
        assert player.entries[-1].content == reply["content"]
    assert len(world.transport.bodies) == 11
    assert [body.get("tool_choice") for body in world.transport.bodies] == [None] * 10 + ["none"]


async def test_tool_calls_of_the_last_request_are_not_run():
    world = dice()
    for _ in range(11):
        world.transport.calls(("roll", {"sides": 6}))
    async with playing(world, DICE) as player:
        assert (await player.send("Roll"))["content"] == ROUNDS_SPENT
        assert len((await player.agent_store("a.dice"))["ids"]) == 10
        assert not player.entries[-1].tool_calls


async def test_a_call_cut_off_by_the_token_limit_is_not_run_and_leaves_an_audit_entry():
    world = dice()
    cut = {"index": 0, "id": "c", "function": {"name": "roll", "arguments": '{"sides": 2'}}
    world.transport.script.append(
        FakeResponse(
            [
                sse({"choices": [{"delta": {"content": "Rolling"}}]}),
                sse({"choices": [{"delta": {"tool_calls": [cut]}}]}),
                sse({"choices": [{"delta": {}, "finish_reason": "length"}]}),
                b"data: [DONE]\n\n",
            ]
        )
    )
    async with playing(world, DICE) as player:
        await player.send("Roll")
        assert roles(player)[1:] == [
            ("assistant", "Rolling"),
            ("log", "Cut off before it was complete, so not run: roll."),
        ]
        assert await player.agent_store("a.dice") == {}


async def test_no_tools_no_tools_array():
    world = World()
    world.transport.says("Hi")
    async with playing(world, package()) as player:
        await player.send("Hi")
    assert "tools" not in world.transport.bodies[0]


async def test_tools_are_sent_in_function_calling_format():
    world = dice()
    world.transport.says("Hi")
    async with playing(world, DICE) as player:
        await player.send("Hi")
    assert world.transport.bodies[0]["tools"] == [
        {
            "type": "function",
            "function": {"name": "roll", "description": "Does roll.", "parameters": SIDES},
        }
    ]


async def test_a_provider_error_reaches_the_caller_and_the_next_message_works():
    world = World()
    refusal = b'{"error": {"message": "no such model"}}'
    world.transport.script.append(FakeResponse([refusal], status=404))
    world.transport.says("Now it works.")
    async with playing(world, package()) as player:
        errors = heard(player, "error")
        with pytest.raises(ModelError, match="no such model"):
            await player.send("Hello")
        assert [type(error) for error in errors] == [ModelError]
        assert roles(player) == [("user", "Hello")]
        assert player.turn.state == "idle"
        await player.send("Again")
    assert [m["content"] for m in world.transport.bodies[-1]["messages"]][1:] == ["Hello", "Again"]


async def test_text_before_an_error_is_kept_as_stopped():
    world = World()
    world.transport.script.append(
        FakeResponse(
            [sse({"choices": [{"delta": {"content": "Half a "}}]}), ModelError("reset", "reset")]
        )
    )
    async with playing(world, package()) as player:
        with pytest.raises(ModelError):
            await player.send("Hello")
        assert roles(player) == [("user", "Hello"), ("assistant", "Half a ")]
        assert player.entries[-1].stopped


async def test_an_empty_reply_leaves_nothing_behind():
    world = World()
    world.transport.says("")
    async with playing(world, package()) as player:
        with pytest.raises(ModelError):
            await player.send("Hello")
        assert roles(player) == [("user", "Hello")]


async def test_the_same_provider_ids_in_every_round_are_told_apart():
    world = dice()
    world.transport.calls(("roll", {"sides": 6}))
    world.transport.calls(("roll", {"sides": 8}))
    world.transport.says("Done.")
    async with playing(world, DICE) as player:
        await player.send("Roll")
        ids = [call.id for entry in player.entries for call in entry.tool_calls]
        assert len(set(ids)) == 2
        assert ids == [entry.tool_call_id for entry in player.entries if entry.role == "tool"]


@pytest.mark.parametrize(("sides", "installed"), [(6, []), (1, ["jsonschema"])])
async def test_the_schema_library_is_fetched_when_it_is_needed_and_not_there(
    monkeypatch, sides, installed
):
    monkeypatch.setattr("personae.tools.validation.find_spec", lambda name: None)
    world = dice()
    world.transport.calls(("roll", {"sides": sides}))
    world.transport.says("Done.")
    async with playing(world, DICE) as player:
        await player.send("Roll")
    assert world.installed == installed
