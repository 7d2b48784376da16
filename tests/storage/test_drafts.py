"""Unsent texts: one a conversation, kept over a reload, gone with the conversation."""

from __future__ import annotations

from personae.errors import StorageError
from personae.storage.drafts import Drafts
from personae.storage.saver import Saver

from tests.fakes import FakeClock, FakeNotifier, FakeStorage
from tests.player.support import World, breathe, package, playing


def drafts(storage: FakeStorage) -> Drafts:
    return Drafts(Saver(storage, FakeClock(), FakeNotifier()))


async def test_each_conversation_finds_its_own_again() -> None:
    storage = FakeStorage()
    typed = drafts(storage)
    typed.put("one", "Dear \u2028 one,\n")
    typed.put("two", "@two")
    typed.save()
    await breathe()
    typed.put("two", "")
    typed.save()
    await breathe()
    later = drafts(storage)
    await later.load()
    assert (later.of("one"), later.of("two"), later.of("three")) == (
        "Dear \u2028 one,\n",
        "",
        "",
    )
    assert list(storage.tables["settings"]) == [("draft", "one")]


async def test_a_damaged_draft_is_none_and_what_was_typed_meanwhile_stays() -> None:
    storage = FakeStorage()
    storage.tables["settings"] = {
        ("draft", "a"): "damaged",
        ("draft", "b"): "[1]",
        ("draft", "c"): '"stored"',
    }
    typed = drafts(storage)
    typed.put("c", "typed")
    await typed.load()
    assert [typed.of(name) for name in "abc"] == ["", "", "typed"]


async def test_drafts_work_while_storage_does_not() -> None:
    storage = FakeStorage()
    storage.read_fault = storage.commit_fault = StorageError("storage_full", "Full.")
    typed = drafts(storage)
    await typed.load()
    typed.put("a", "still here")
    typed.save()
    await breathe()
    assert typed.of("a") == "still here"


async def test_a_draft_goes_with_its_conversation() -> None:
    world = World()
    async with playing(world, package()) as player:
        left = player.conversation_id
        other = await player.new_conversation()
        typed = Drafts(world.environment().saver)
        for name in (left, other):
            typed.put(name, "unsent")
        typed.save()
        await breathe()
        await player.delete_conversation(left)
        await breathe()
        assert [key for key in world.storage.tables["settings"] if key[0] == "draft"] == [
            ("draft", other)
        ]
