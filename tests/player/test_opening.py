"""Opening conversations while something else happens: another one is opened, the caller goes away,
the player is disposed of."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest
from personae.errors import PersonaeError, UsageError
from personae.player.character_player import CharacterPlayer

from tests.fakes import FakeLease
from tests.player.support import World, agent, breathe, make_player, package, playing

AGENT = agent("a.x", hooks=("afterUserEdit",), preload=True, commands={"cmd": "cmd"})
CHARACTER = package(AGENT)
FUNCTIONS = {
    "a.x": {
        "onLoad": lambda *values: "known",
        "onAfterUserEdit": lambda *values: None,
        "cmd": lambda *values: None,
    }
}
MOST_STEPS = 60

Work = Callable[[CharacterPlayer, str], Awaitable[object]]
OPENING: dict[str, Work] = {
    "new": lambda player, other: player.new_conversation(),
    "load": lambda player, other: player.load_conversation(other),
    "fork": lambda player, other: player.fork(player.entries[-1].id),
    "delete": lambda player, other: player.delete_conversation(player.conversation_id),
}


async def long_conversation(world: World, count: int) -> str:
    async with playing(world, package()) as player:
        exported = await player.export_conversation()
        exported["entries"] = [
            {"id": f"e{number:010d}", "role": "user", "content": f"{number}", "at": 1}
            for number in range(1, count + 1)
        ]
        return await player.import_conversation(exported)


async def with_two(world: World) -> tuple[CharacterPlayer, str]:
    """A player with two conversations; the id of the one that is not open."""
    player = make_player(world, CHARACTER)
    await player.ready()
    other = player.conversation_id
    for text in ("one", "two"):
        world.transport.says(text)
        await player.send("Hello")
        if text == "one":
            await player.new_conversation()
    await breathe()
    return player, other


async def test_what_leaves_is_the_conversation_it_was_asked_of_though_another_one_is_opened():
    world = World()
    long = await long_conversation(world, 700)
    async with playing(world, package()) as player:
        short = await player.new_conversation()
        await player.load_conversation(long, whole=False)
        exporting = asyncio.ensure_future(player.export_conversation())
        keeping = asyncio.ensure_future(player.snapshot(long))
        await asyncio.sleep(0)
        await player.load_conversation(short)
        exported, kept = await exporting, await keeping
        assert (exported["conversation"]["id"], len(exported["entries"])) == (long, 700)
        assert (kept.head.id, len(kept.entries)) == (long, 700)


async def test_opened_twice_at_once_a_conversation_is_this_tabs():
    world = World(FUNCTIONS)
    player, other = await with_two(world)
    await asyncio.gather(player.load_conversation(other), player.load_conversation(other))
    await breathe()
    assert (player.conversation_id, player.read_only) == (other, False)
    assert [name.endswith(other) for name in world.locks.held] == [True]
    await player.dispose()


@pytest.mark.parametrize("name", OPENING)
async def test_a_player_that_is_disposed_of_while_it_opens_leaves_nothing_behind(name):
    unheard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: unheard.append(context))
    for steps in range(MOST_STEPS):
        world = World(FUNCTIONS)
        player, other = await with_two(world)
        opening = asyncio.ensure_future(OPENING[name](player, other))
        await breathe(steps)
        finished = opening.done()
        await player.dispose()
        await breathe(200)
        left = (world.sandbox.open_workers, world.locks.held, opening.done())
        assert left == (0, set(), True), f"after {steps} steps"
        if isinstance(error := opening.exception(), BaseException):
            assert isinstance(error, UsageError), f"after {steps} steps"
        del player, opening, error
        gc.collect()
        assert unheard == [], f"after {steps} steps"
        if finished:
            return
    raise AssertionError("it never ends")


@pytest.mark.parametrize("name", OPENING)
async def test_a_caller_that_goes_away_leaves_a_conversation_that_works(name):
    for steps in range(MOST_STEPS):
        world = World(FUNCTIONS)
        player, other = await with_two(world)
        opening = asyncio.ensure_future(OPENING[name](player, other))
        await breathe(steps)
        finished = opening.done()
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        await breathe(200)
        assert [lock.rpartition(":")[2] for lock in world.locks.held] == [player.conversation_id]
        world.transport.says("still here")
        assert (await player.send("And now?"))["content"] == "still here"
        await player.dispose()
        if finished:
            return
    raise AssertionError("it never ends")


async def test_a_lock_that_comes_when_nobody_waits_for_it_any_more_is_given_back():
    world = World(FUNCTIONS)
    player, other = await with_two(world)
    free = asyncio.Event()
    taken: list[str] = []

    async def slow(name: str) -> FakeLease | None:
        await free.wait()
        taken.append(name)
        return await world.locks.lock(name)

    environment = player._environment
    assert environment is not None
    object.__setattr__(environment, "lock", slow)
    opening = asyncio.ensure_future(player.load_conversation(other))
    await breathe()
    opening.cancel()
    await asyncio.gather(opening, return_exceptions=True)
    free.set()
    await breathe()
    assert [name.rpartition(":")[2] for name in taken] == [other]
    assert not any(name.endswith(other) for name in world.locks.held)
    await player.dispose()


async def test_a_deleted_conversation_does_not_come_back_with_what_its_hook_had_asked():
    async def after(event, store, studio, context):
        await studio.request("callModel", "", [{"role": "user", "content": "Hm?"}], 10, {})

    world = World({"a.y": {"onAfterResponse": after}})
    asking = agent("a.y", hooks=("afterResponse",), apis=("studio.model",))

    async def slow_to_end() -> None:
        if len(world.transport.bodies) == 2:
            try:
                await asyncio.Event().wait()
            finally:
                await breathe(30)

    world.transport.on_open = slow_to_end
    async with playing(world, package(asking)) as player:
        world.transport.says("Hi")
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe(200)
        assert (len(world.transport.bodies), sending.done()) == (2, False)
        gone = player.conversation_id
        await player.delete_conversation(gone)
        await breathe(200)
        records = [key for table in world.storage.tables.values() for key in table if gone in key]
        assert records == []
        assert gone not in [one["id"] for one in await player.list_conversations()]
        with pytest.raises(PersonaeError):
            await player.load_conversation(gone)
        await asyncio.gather(sending, return_exceptions=True)
