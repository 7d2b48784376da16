"""A turn at a seat, with tools of any owner; no page, no player."""

from __future__ import annotations

from dataclasses import replace

import pytest
from personae.conversation.entries import FIRST_MEMBER, Entry
from personae.conversation.repair import open_calls
from personae.errors import ToolError
from personae.package.model import ToolDefinition
from personae.tools.executor import CUT, SKIPPED
from personae.tools.tool import Outcome, Tool
from personae.turn.seat import Seat
from personae.turn.turn import follow_up, run_turn

from tests.fakes import World
from tests.player.support import agent, package, tool
from tests.turn.seats import take_seat

ANYTHING = {"type": "object", "properties": {}}


def roll(name, args, store, studio, context):
    store["ids"] = [*store.get("ids", []), context["toolCallId"]]
    return "a six"


def heard_of(event, store, studio, context):
    store["heard"] = [*store.get("heard", []), event["toolName"]]


DICE = {"onToolCall": roll}
ONLOOKER = {"onAfterToolCall": heard_of}


def table() -> World:
    return World({"a.dice": DICE, "a.onlooker": ONLOOKER})


def cast():
    return package(agent("a.dice", tool("roll")), agent("a.onlooker", hooks=("afterToolCall",)))


def builtin(name: str, answer) -> Tool:
    async def handler(call, arguments, invocation) -> Outcome:
        return answer(arguments)

    return Tool(ToolDefinition(name, f"Does {name}.", ANYTHING), "player", handler)


def fail(arguments):
    raise ToolError("invalid_input", "the clock has no hands.")


def break_down(arguments):
    raise ZeroDivisionError


async def said(seat: Seat, text: str) -> Entry:
    entry = seat.room.journal.append("user", text)
    await seat.room.journal.save()
    return entry


def results(seat: Seat) -> list[tuple[str, str, str]]:
    """Content, state and agent of each result."""
    entries = seat.room.journal.entries
    return [(e.content, e.state, e.agent_id or "") for e in entries if e.role == "tool"]


async def test_a_tool_of_the_player_is_registered_and_called_like_any_other() -> None:
    world = table()
    seat = await take_seat(world, cast())
    assert seat.tools.register(builtin("clock", lambda arguments: Outcome(f"{arguments} noon")))
    world.transport.calls(("roll", {}), ("clock", {"zone": "UTC"}), ("roll", {}))
    world.transport.says("Done.")
    done = await run_turn(seat, await said(seat, "Go"), regenerate=False)
    await follow_up(seat, done)
    assert done.text == "Done."
    offered = [entry["function"]["name"] for entry in world.transport.bodies[0]["tools"]]
    assert offered == ["roll", "clock"]
    assert results(seat) == [
        ("a six", "answered", "a.dice"),
        ("{'zone': 'UTC'} noon", "answered", ""),
        ("a six", "answered", "a.dice"),
    ]
    # Only agents' calls are counted, and only of those the other agents hear.
    entries = seat.room.journal.entries
    assert [call.number for entry in entries for call in entry.tool_calls] == [1, None, 2]
    assert seat.agents.store(seat.registry.programs["a.onlooker"]) == {"heard": ["roll", "roll"]}
    assert [call["name"] for call in done.calls] == ["roll", "roll"]


async def test_a_suspended_call_ends_the_turn_and_waits() -> None:
    world = table()
    seat = await take_seat(world, cast())
    waits = builtin("ask", lambda arguments: Outcome("Waiting for the player.", control="suspend"))
    seat.tools.register(waits)
    world.transport.calls(("roll", {}), ("ask", {}), ("roll", {}))
    cause = await said(seat, "Go")
    done = await run_turn(seat, cause, regenerate=False)
    assert (done.stopped, done.error, len(world.transport.bodies)) == (False, None, 1)
    assert results(seat) == [
        ("a six", "answered", "a.dice"),
        ("Waiting for the player.", "suspended", ""),
        (SKIPPED, "cut", "a.dice"),
    ]
    assert seat.agents.store(seat.registry.programs["a.dice"]) == {"ids": [1]}
    assert open_calls(seat.room.journal.entries) == []
    mine = [entry for entry in seat.room.journal.entries if entry is not cause]
    assert {(entry.member, entry.reply_to) for entry in mine} == {(FIRST_MEMBER, cause.id)}


@pytest.mark.parametrize(
    ("answer", "content"),
    [(fail, "Error: the clock has no hands."), (break_down, "Error: the tool 'clock' failed.")],
)
async def test_a_tool_that_fails_answers_the_model(answer, content, caplog) -> None:
    world = table()
    seat = await take_seat(world, cast())
    seat.tools.register(builtin("clock", answer))
    world.transport.calls(("clock", {}))
    world.transport.says("Never mind.")
    done = await run_turn(seat, await said(seat, "Go"), regenerate=False)
    assert done.text == "Never mind."
    result = next(entry for entry in seat.room.journal.entries if entry.role == "tool")
    assert (result.content, result.ok) == (content, False)


async def test_arguments_that_cannot_be_checked_answer_the_model(caplog) -> None:
    world = table()
    seat = await take_seat(world, cast())
    never_valid = ToolDefinition("odd", "", {"properties": {"at": {"maximum": "noon"}}})
    seat.tools.register(
        replace(builtin("odd", lambda arguments: Outcome("")), definition=never_valid)
    )
    world.transport.calls(("odd", {"at": 12}), ("roll", {}), text="Let me see.")
    world.transport.says("Never mind.")
    done = await run_turn(seat, await said(seat, "Go"), regenerate=False)
    assert (done.error, done.text) == (None, "Never mind.")
    assert [content for content, _, _ in results(seat)] == [
        "Error: the tool 'odd' failed.",
        "a six",
    ]


async def test_a_tool_that_ends_the_loop_ends_the_turn() -> None:
    world = table()
    seat = await take_seat(world, cast())
    seat.tools.register(builtin("done", lambda arguments: Outcome("Over.", control="end")))
    world.transport.calls(("done", {}), ("roll", {}), text="That is all.")
    done = await run_turn(seat, await said(seat, "Go"), regenerate=False)
    assert (done.text, len(world.transport.bodies)) == ("That is all.", 1)
    assert [state for _, state, _ in results(seat)] == ["answered", "cut"]


async def test_a_stop_leaves_no_call_without_a_result() -> None:
    world = table()
    seat = await take_seat(world, cast())

    def stop(arguments):
        seat.room.stopping.stop()
        return Outcome("too late")

    seat.tools.register(builtin("stop", stop))
    world.transport.calls(("stop", {}), ("roll", {}))
    done = await run_turn(seat, await said(seat, "Go"), regenerate=False)
    assert done.stopped
    assert open_calls(seat.room.journal.entries) == []
    assert results(seat)[-1] == (CUT, "cut", "a.dice")


async def test_the_first_owner_of_a_name_keeps_it() -> None:
    seat = await take_seat(table(), cast())
    assert not seat.tools.register(builtin("roll", lambda arguments: Outcome("mine")))
    assert seat.tools.names() == ["roll"]
