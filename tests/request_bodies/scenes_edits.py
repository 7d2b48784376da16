"""What the user does to a conversation, and what is asked after it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from personae import CharacterPlayer

from tests.request_bodies.stage import Stage, folder, last_id, say, scene

SAMPLE = folder("web/sample")


async def two_turns(player: CharacterPlayer, stage: Stage) -> None:
    """A turn with two rounds of tools, and one without."""
    stage.transport.calls(("roll_dice", {"sides": 6}), ("roll_dice", {"sides": 8}), text="Dice!")
    stage.transport.calls(("roll_dice", {"sides": 4}))
    await say(player, stage, "Roll for me.", "They are rolled.")
    await say(player, stage, "Tell me more.", "There is more.")


@scene
async def regenerated(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        stage.transport.says("There is much more.")
        await player.regenerate()
        stage.transport.calls(("roll_dice", {"sides": 100}))
        stage.transport.says("Quite a lot.")
        await player.regenerate()
        await say(player, stage, "Good.", "Is it?")


@scene
async def edited_and_sent_again(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        await player.edit(last_id(player, "assistant"), "There is *less*.")
        await say(player, stage, "Why less?", "You said so.")
        await player.edit(player.entries[0].id, "Roll some dice for me.")
        await say(player, stage, "Yes.", "Hm.")
        stage.transport.says("Rolled differently.")
        await player.resubmit(player.entries[0].id, "Do not roll.")
        stage.transport.calls(("roll_dice", {"sides": 6}))
        stage.transport.says("Rolled after all.")
        await player.resubmit(player.entries[0].id)
        await say(player, stage, "Fine.", "Fine.")


@scene
async def rejected_and_deleted(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        await player.reject(last_id(player, "assistant"))
        await say(player, stage, "Not that.", "This, then.")
        await player.reject(last_id(player, "tool"))
        stage.transport.says("Another answer.")
        await player.regenerate()
        await player.delete(player.entries[0].id)
        await say(player, stage, "Without the first.", "Without.")
        await player.delete(last_id(player, "assistant"))
        await say(player, stage, "Hello?", "Here.")


@scene
async def cut_off_and_cleared(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        await player.truncate(last_id(player, "tool"))
        await say(player, stage, "From here.", "From there.")
        first_round = next(entry.id for entry in player.entries if entry.role == "assistant")
        await player.truncate(first_round)
        stage.transport.says("On we go.")
        await player.continue_()
        await say(player, stage, "Further.", "Farther.")
        await player.clear()
        await say(player, stage, "From nothing.", "Anew.")


@scene
async def forked(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        origin = player.conversation_id
        await player.fork(last_id(player, "tool"))
        await say(player, stage, "On the other road.", "It is darker.")
        await player.load_conversation(origin)
        await say(player, stage, "On the first road.", "It is wet.")


@scene
async def stopped_in_the_middle(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        silence = asyncio.Event()
        stage.transport.says("Half a ", silence, "sentence.")
        unsubscribe = player.on("token", lambda _: player.stop())
        assert (await player.send("Say it."))["stopped"]
        unsubscribe()
        await say(player, stage, "Go on.", "A whole one.")
        stage.transport.says(silence, "Never said.")
        stage.transport.on_open = _stops(player)
        assert (await player.send("And this?"))["content"] == ""
        stage.transport.on_open = None
        await say(player, stage, "Well?", "Well.")
        stage.transport.says("Continued.")
        await player.continue_()


@scene
async def carried_to_another_browser(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        await two_turns(player, stage)
        await player.reject(last_id(player, "assistant"))
        exported = await player.export_conversation()
        state = player.export_default_data()
    stage.world = stage.new_world()
    async with stage.playing(SAMPLE) as player:
        await player.load_conversation(await player.import_conversation(exported))
        await say(player, stage, "Still there?", "Still here.")
    stage.world = stage.new_world()
    async with stage.playing(SAMPLE | state) as player:
        await say(player, stage, "Do the dice remember?", "They do.")


def _stops(player: CharacterPlayer) -> Callable[[], Awaitable[None]]:
    async def stop() -> None:
        player.stop()

    return stop
