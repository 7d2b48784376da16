from __future__ import annotations

import pytest
from personae.errors import AgentError, UsageError

from tests.player.support import World, agent, package, playing


def notes(**functions):
    return World({"a.notes": functions})


NOTES = package(
    agent("a.notes", commands={"note": "noteAdd", "wipe": "noteWipe"}, description="Keeps notes.")
)


async def test_commands_are_listed_without_their_at_sign():
    async with playing(notes(), NOTES) as player:
        listed = player.list_commands()
    assert listed == [
        {"name": "note", "agentId": "a.notes", "description": "Keeps notes."},
        {"name": "wipe", "agentId": "a.notes", "description": "Keeps notes."},
    ]


@pytest.mark.parametrize("name", ["note", "@note"])
async def test_the_handler_gets_the_unparsed_text_and_is_told_who_called(name):
    seen = []

    def add(args, store, studio, context):
        seen.append((args, context["invokedBy"], "toolCallId" in context))
        store["note"] = args

    async with playing(notes(noteAdd=add), NOTES) as player:
        assert await player.run_command(name, '  {"x": 1} --flag ') is None
        assert await player.agent_store("a.notes") == {"note": '  {"x": 1} --flag '}
    assert seen == [('  {"x": 1} --flag ', "direct", False)]


async def test_a_returned_string_is_the_reason_the_input_was_refused():
    world = notes(noteAdd=lambda args, *_: "Usage: note <text>")
    async with playing(world, NOTES) as player:
        assert await player.run_command("note", "") == "Usage: note <text>"
        assert player.turn.state == "idle"


async def test_the_store_of_a_command_is_stored():
    world = notes(noteAdd=lambda args, store, *_: store.update(note=args))
    async with playing(world, NOTES) as player:
        await player.run_command("note", "milk")
    async with playing(world, NOTES) as again:
        assert await again.agent_store("a.notes") == {"note": "milk"}
        assert again.entries == []


async def test_a_command_that_fails_leaves_the_store_and_raises():
    def fail(args, store, studio, context):
        store["half"] = 1
        raise ValueError("no pen")

    async with playing(notes(noteAdd=fail), NOTES) as player:
        with pytest.raises(AgentError, match="no pen"):
            await player.run_command("note", "x")
        assert await player.agent_store("a.notes") == {}


async def test_an_unknown_command():
    async with playing(notes(), NOTES) as player:
        with pytest.raises(UsageError) as caught:
            await player.run_command("sing", "x")
        assert caught.value.code == "unknown_command"


async def test_what_the_manifest_declares_and_the_module_lacks_is_in_the_log_once_it_is_loaded():
    lacking = agent(
        "a.notes", "jot", commands={"note": "noteAdd", "wipe": "noteWipe"}, hooks=("afterResponse",)
    )
    async with playing(notes(noteAdd=lambda *_: None), package(lacking)) as player:
        assert player.agent_log("a.notes") == []
        await player.run_command("note", "milk")
        await player.run_command("note", "tea")
        lines = player.agent_log("a.notes")
    assert [(line["kind"], line["text"]) for line in lines] == [
        ("error", f"The manifest declares {what}, but agents/a.notes.js has no function {name}.")
        for what, name in (
            ("@tool jot", "onToolCall"),
            ("@hook afterResponse", "onAfterResponse"),
            ("@command wipe", "noteWipe"),
        )
    ]
