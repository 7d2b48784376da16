"""Agents that fail, calls that make no sense, limits, and tabs that are killed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from tests.fakes import World, breathe
from tests.request_bodies.agents import Functions
from tests.request_bodies.stage import ROOT, Stage, last_id, say, scene

MOODY = {
    "config.json": json.dumps({"name": "Moody", "agents": ["test.moody"]}),
    "instructions.txt": "You are moody.",
    "context/house.txt": "The house has two doors.",
    "agents/test.moody.js": (ROOT / "playwright/faults/agents/test.moody.js").read_bytes(),
}


@scene
async def failing_agents(stage: Stage) -> None:
    async with stage.playing(MOODY, worker_model="small") as player:
        stage.transport.calls(("act", {"how": "throw call"}), ("act", {"how": "well"}))
        await say(player, stage, "throw before and throw after", "Whatever.")
        stage.transport.calls(("act", {"how": "hold call"}))
        stage.transport.replies("held")
        await say(player, stage, "Hold it.", "Held.")
        stage.transport.calls(("act", {"how": "throw edit"}))
        await say(player, stage, "Prepare.", "Prepared.")
        stage.transport.says("Again.")
        await player.regenerate()
        await say(player, stage, "And?", "And.")


@scene
async def calls_that_make_no_sense(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        stage.transport.calls(
            ("dance", {}),
            ("act", "{broken"),
            ("act", "[1, 2]"),
            ("act", {"how": 5}),
            ("act", {"how": "well", "more": [None, 1.5, "\u2028"]}),
            ("act", "```json\n{'how': 'quoted',}\n```"),
            ("act", '"{\\"how\\": \\"twice\\"}"'),
            ("act", ""),
            ("a name/with spaces \u00e9 and more than sixty-four letters, which none takes", {}),
        )
        await say(player, stage, "Do odd things.", "Odd enough.")
        await say(player, stage, "And now?", "Even.")


@scene
async def the_same_ids_again(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        for _ in range(3):
            stage.transport.calls(("act", {"how": "a"}), ("act", {"how": "b"}))
        await say(player, stage, "Three rounds.", "Three.")
        stage.transport.calls(("act", {"how": "c"}))
        await say(player, stage, "One more.", "Four.")


@scene
async def ten_rounds_and_no_more(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        for number in range(10):
            stage.transport.calls(("act", {"how": f"round {number}"}))
        stage.transport.says("I must stop here.")
        await player.send("Go on for ever.")
        await say(player, stage, "Enough?", "Enough.")


@scene
async def stopped_in_a_call(stage: Stage) -> None:
    held = asyncio.Event()

    async def act(name: str, args: Any, store: Any, studio: Any, context: Any) -> str:
        store["ids"] = [*store.get("ids", []), context["toolCallId"]]
        player.stop()
        await held.wait()
        return "never"

    functions: dict[str, Functions] = {
        "test.moody": {"onToolCall": act, "onLoad": lambda store, *_: str(store)}
    }
    async with stage.playing(MOODY, functions) as player:
        stage.transport.calls(("act", {}), ("act", {"how": "later"}), text="Let me.")
        assert (await player.send("Act."))["stopped"]
        await say(player, stage, "What was that?", "Nothing.")
        await player.reject(last_id(player, "assistant"))
        await say(player, stage, "Really?", "Really.")


@scene
async def killed_in_every_place(stage: Stage) -> None:
    """A new tab opens what was stored when each request of a turn went out."""
    tabs: list[dict[str, Any]] = []

    async def remember() -> None:
        await breathe()  # a result may still be on its way to storage
        tables = stage.world.storage.tables
        tabs.append({name: dict(table) for name, table in tables.items()})

    async with stage.playing(MOODY) as player:
        await say(player, stage, "Before.", "Before that.")
        stage.transport.on_open = remember
        stage.transport.calls(("act", {"how": "one"}), ("act", {"how": "two"}), text="Both.")
        stage.transport.calls(("act", {"how": "three"}))
        await say(player, stage, "Act.", "Done.")
        stage.transport.on_open = None
    for tables in tabs:
        stage.world = _with(stage.new_world(), tables)
        async with stage.playing(MOODY) as player:
            await say(player, stage, "Where were we?", "Here.")


@scene
async def left_without_an_answer(stage: Stage) -> None:
    """Calls that a killed tab never answered, and a message that nobody did."""
    exported = {
        "format": "personae-conversation",
        "version": 1,
        "character": "Moody",
        "conversation": {
            "id": "1",
            "characterId": "x",
            "createdAt": 1,
            "updatedAt": 2,
            "title": "Cut",
            "nextEntry": 6,
            "lastToolCallId": 2,
        },
        "entries": [
            _entry(1, "user", "Act twice."),
            _entry(
                2,
                "assistant",
                "",
                tool_calls=[
                    {"id": "c0", "name": "act", "arguments": "{}", "toolCallId": 1},
                    {"id": "c1", "name": "act", "arguments": '{"how":', "toolCallId": 2},
                ],
            ),
            _entry(3, "log", "act 1", agentId="test.moody"),
            _entry(4, "tool", "did 1", tool_call_id="c0", toolCallId=1, agentId="test.moody"),
            _entry(5, "user", "Hello?"),
        ],
        "stores": {"test.moody": {"ids": [1]}},
    }
    hidden = {"context/.cellar.txt": "Nobody is told of the cellar."}
    async with stage.playing(MOODY | hidden) as player:
        await player.load_conversation(await player.import_conversation(exported))
        await say(player, stage, "Are you there?", "I am.")


def _entry(number: int, role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"id": f"e{number:010d}", "role": role, "content": content, "at": number, **more}


def _with(world: World, tables: dict[str, Any]) -> World:
    world.storage.tables = tables
    return world
