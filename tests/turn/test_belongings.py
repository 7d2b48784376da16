"""The same package at two seats: stores, logs and news of edits are each seat's own."""

from __future__ import annotations

import json

from personae.conversation import edits
from personae.turn.seat import Seat
from personae.turn.turn import run_turn

from tests.fakes import World
from tests.player.support import agent, package
from tests.turn.seats import take_seat


def roll(name, args, store, studio, context):
    store["ids"] = [*store.get("ids", []), context["toolCallId"]]
    studio.notice("log", "It rolled.")
    return "a six"


def edited(event, store, studio, context):
    store["deleted"] = event["deletedToolCallIds"]


DICE = agent("a.dice", "roll", hooks=("afterUserEdit",), debug=True)


async def test_two_seats_with_one_package_share_nothing() -> None:
    world = World({"a.dice": {"onToolCall": roll, "onAfterUserEdit": edited}})
    first = await take_seat(world, package(DICE))
    second = Seat(first.room, first.package, first.registry, "m2")
    journal = first.room.journal
    said = journal.append("user", "Roll.")
    for seat in (first, second, second):
        world.transport.calls(("roll", {}))
        world.transport.says("A six.")
        await run_turn(seat, said, regenerate=False)
    noted = [(e.member, e.agent_id) for e in journal.entries if e.role == "log"]
    assert noted == [("m1", "a.dice"), ("m2", "a.dice"), ("m2", "a.dice")]
    await journal.save()
    tables = world.storage.tables
    stores = {key[1]: json.loads(v.partition("\n")[2]) for key, v in tables["stores"].items()}
    assert stores == {"a.dice": {"ids": [1]}, "m2:a.dice": {"ids": [2, 3]}}
    assert sorted(key[1] for key in tables["logs"]) == ["a.dice", "m2:a.dice", "m2:a.dice"]
    assert len(first.room.log.lines("m2:a.dice")) == 2

    told = [*first.hooks.told_of_edits(), *second.hooks.told_of_edits()]
    journal.apply(edits.clear(journal.entries), told)
    assert await first.hooks.after_user_edit(user_acted=True)
    assert second.belongings.untold() == ["a.dice"]
    assert await second.hooks.after_user_edit(user_acted=True)
    assert first.agents.store(DICE) == {"ids": [1], "deleted": [1]}
    assert second.agents.store(DICE) == {"ids": [2, 3], "deleted": [2, 3]}
    assert journal.head.edit is None
