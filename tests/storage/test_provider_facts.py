"""What providers taught is known to the next player and after a reload."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from personae.errors import StorageError
from personae.storage.provider_facts import RECORDS, ProviderFacts
from personae.storage.saver import Saver

from tests.fakes import FakeClock, FakeNotifier, FakeResponse, FakeStorage, World
from tests.player.support import package, playing

BASE = "https://m.example/v1"
PROVIDER = {"base_url": BASE, "model": "m", "api_key": "sk-secret", "top_p": 0.5, "max_tokens": 9}
SAID = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})


def refuses(message: str) -> FakeResponse:
    return FakeResponse([json.dumps({"error": {"message": message}}).encode()], 400)


def says() -> FakeResponse:
    return FakeResponse([SAID.encode()])


async def talk(world: World, *answers: FakeResponse) -> list[dict[str, Any]]:
    """What is sent when a new player sends one message."""
    world.transport.script = list(answers)
    world.transport.bodies.clear()
    async with playing(world, package(), **PROVIDER) as player:
        await player.send("Hello")
    return world.transport.bodies


def facts(world: World) -> Mapping[Any, Any]:
    records = world.storage.json("settings")
    return {key: value for key, value in records.items() if key[0] == RECORDS}


async def test_the_next_player_and_the_next_page_do_not_learn_it_again() -> None:
    world = World()
    assert len(await talk(world, refuses("Unknown parameter: top_p"), says())) == 2
    [sent] = await talk(world, says())
    assert "top_p" not in sent
    reloaded = World()
    reloaded.storage = world.storage
    [sent] = await talk(reloaded, says())
    assert "top_p" not in sent


async def test_what_is_stored_is_facts_and_nothing_that_was_said() -> None:
    world = World()
    await talk(world, refuses("Unknown parameter: top_p. You said: Hello, sk-secret"), says())
    assert facts(world) == {(RECORDS, f"{BASE} m"): ["drop:top_p"]}


async def test_what_an_endpoint_takes_back_is_forgotten() -> None:
    world = World()
    await talk(world, refuses("Unsupported parameter: max_tokens"), says())
    assert facts(world) == {(RECORDS, f"{BASE} m"): ["rename:max_tokens"]}
    first, second = await talk(world, refuses("Unknown parameter: max_completion_tokens"), says())
    assert ("max_completion_tokens" in first, "max_tokens" in second) == (True, True)
    assert facts(world) == {}


async def test_what_is_no_fact_is_not_believed() -> None:
    storage = FakeStorage()
    storage.tables["settings"] = {
        (RECORDS, "a"): '["drop:messages", "drop:isFile", 5, {}]',
        (RECORDS, "b"): "{",
        (RECORDS, "c"): '{"drop:isFile": 1}',
    }
    memory = ProviderFacts(Saver(storage, FakeClock(), FakeNotifier()))
    await memory.load()
    assert dict(memory) == {"a": ["drop:isFile"]}


async def test_nothing_is_written_while_the_records_cannot_be_read() -> None:
    storage = FakeStorage()
    storage.read_fault = StorageError("storage_failed", "no")
    memory = ProviderFacts(Saver(storage, FakeClock(), FakeNotifier()))
    await memory.load()
    memory["a"] = ["drop:isFile"]
    await memory._saver.flush()
    assert (memory["a"], storage.commits) == (["drop:isFile"], [])
