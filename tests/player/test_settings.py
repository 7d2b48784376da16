from __future__ import annotations

import pytest
from personae.errors import UsageError
from personae.settings import Limits, Settings

from tests.player.support import World, make_player, package, playing


@pytest.mark.parametrize(
    ("settings", "model"),
    [
        ({}, "rehearsal"),
        ({"model": "big"}, "big"),
        ({"api_key": "k"}, ""),
        ({"base_url": "https://x.test/v1"}, ""),
        ({"api_key": "k", "model": "rehearsal"}, "rehearsal"),
    ],
)
def test_the_rehearsal_model_is_the_default_until_there_is_a_provider(settings, model):
    assert Settings().changed(settings).model_for("main") == model


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (None, Limits(32_000, 1_000_000)),
        ({"response": 5}, Limits(5, 1_000_000)),
        ({"conversation": 0}, Limits(32_000, 0)),
    ],
)
def test_limits(limits, expected):
    assert Settings().changed({"limits": limits}).limits == expected


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"apikey": "x"}, "unknown_setting"),
        ({"limits": {"day": 1}}, "unknown_setting"),
        ({"limits": {"response": -1}}, "bad_setting"),
        ({"limits": {"response": True}}, "bad_setting"),
        ({"limits": {"response": "many"}}, "bad_setting"),
    ],
)
def test_what_is_wrong_is_refused(changes, code):
    with pytest.raises(UsageError) as caught:
        Settings().changed(changes)
    assert caught.value.code == code


def test_the_worker_model_falls_back_to_the_main_one():
    assert Settings(model="big").model_for("worker") == "big"
    assert Settings(model="big", worker_model="small").model_for("worker") == "small"
    assert Settings(model="big", worker_model="small").model_for("main") == "big"


async def test_new_settings_take_effect_with_the_next_request():
    world = World()
    world.transport.says("One")
    world.transport.says("Two")
    async with playing(world, package()) as player:
        await player.send("1")
        player.configure(model="bigger", temperature=0.3, top_p=0.8, max_tokens=99)
        await player.send("2")
    sent = world.transport.bodies[1]
    assert (sent["model"], sent["temperature"], sent["top_p"], sent["max_tokens"]) == (
        "bigger",
        0.3,
        0.8,
        99,
    )
    assert "temperature" not in world.transport.bodies[0]


async def test_the_rehearsal_model_plays_without_a_provider():
    world = World()
    player = make_player(world, package(), base_url="", api_key="", model="rehearsal")
    await player.ready()
    import asyncio

    sending = asyncio.ensure_future(player.send("Hello"))
    while not sending.done():
        await world.clock.advance(20)
    assert "Hello" in (await sending)["content"]
    assert world.transport.bodies == []
    await player.dispose()


def test_an_unknown_storage_is_refused():
    with pytest.raises(UsageError):
        make_player(World(), package(), storage="cloud")


A, B = "https://a.test/v1", "https://b.test/v1"


def test_a_key_stays_with_the_origin_it_was_given_for():
    given = Settings().changed({"api_key": "k", "base_url": A})
    assert given.credentials.key_for(A) == "k"
    moved = given.changed({"base_url": B})
    assert moved.credentials.key_for(moved.base_url) == ""
    assert moved.changed({"base_url": A}).credentials.key_for(A) == "k"
    both = moved.changed({"api_key": "other"})
    assert (both.credentials.key_for(B), both.credentials.key_for(A)) == ("other", "k")


def test_a_key_without_a_base_url_belongs_to_nobody():
    keyed = Settings().changed({"api_key": "k"})
    assert keyed.changed({"base_url": A}).credentials.key_for(A) == ""


@pytest.mark.parametrize(
    "base_url", ["https://a.test/v1?key=sk-secret", "https://me:sk-secret@a.test/v1"]
)
def test_a_base_url_with_a_secret_is_refused(base_url):
    with pytest.raises(UsageError, match="field of its own") as caught:
        Settings().changed({"base_url": base_url})
    assert "sk-secret" not in str(caught.value)


async def test_configuring_another_base_url_leaves_the_key_behind():
    world = World()
    sent = []
    opened = world.transport.open

    async def recorded(request):
        sent.append((request.url, request.headers.get("Authorization")))
        return await opened(request)

    world.transport.open = recorded
    for _ in range(3):
        world.transport.says("Hi")
    async with playing(world, package(), base_url=A, api_key="k", model="m") as player:
        await player.send("1")
        player.configure(base_url=B)
        await player.send("2")
        player.configure(base_url=A)
        await player.send("3")
    assert sent == [
        (f"{A}/chat/completions", "Bearer k"),
        (f"{B}/chat/completions", None),
        (f"{A}/chat/completions", "Bearer k"),
    ]
