"""Conversations are found by what was said in them, be it stored yet or not."""

from __future__ import annotations

import json

from personae.errors import StorageError
from personae.ports import Put
from personae.storage.content_search import ContentSearch
from personae.storage.saver import Saver

from tests.fakes import FakeClock, FakeNotifier, FakeStorage

LISTED = [{"id": "a", "updatedAt": 1}, {"id": "b", "updatedAt": 1}]


def said(conversation: str, entry: str, content: str, role: str = "user") -> Put:
    return Put("entries", (conversation, entry), json.dumps({"role": role, "content": content}))


async def stored() -> tuple[Saver, FakeStorage]:
    storage = FakeStorage()
    await storage.commit(
        [
            said("a", "e1", "The drowned BELL\nrings"),
            said("a", "e2", "secret tool words", "tool"),
            said("b", "e1", "A bridge", "assistant"),
        ]
    )
    return Saver(storage, FakeClock(), FakeNotifier()), storage


async def test_every_word_must_have_been_said() -> None:
    saver, _ = await stored()
    search = ContentSearch(saver)
    assert await search.find(LISTED, "bell Drowned") == {"a"}
    assert await search.find(LISTED, "bell bridge") == set()
    assert await search.find(LISTED, "assistant") == set()
    assert await search.find(LISTED, "secret") == set()
    assert await search.find(LISTED, " ") == set()


async def test_a_changed_conversation_is_read_again() -> None:
    saver, storage = await stored()
    search = ContentSearch(saver)
    await search.find(LISTED, "bell")
    await storage.commit([said("b", "e2", "bell")])
    assert await search.find(LISTED, "bell") == {"a"}
    newer = [LISTED[0], {"id": "b", "updatedAt": 2}]
    assert await search.find(newer, "bell") == {"a", "b"}


async def test_what_is_not_stored_yet_is_found() -> None:
    saver, storage = await stored()
    search = ContentSearch(saver)
    storage.commit_fault = StorageError("storage_full", "no")
    await saver.write([said("b", "e2", "a bell"), said("c", "e1", "bells")])
    listed = [*LISTED, {"id": "c", "updatedAt": 1}]
    assert await search.find(listed, "bell") == {"a", "b", "c"}
    assert await search.find(listed, "bell bridge") == {"b"}


async def test_while_storage_cannot_be_read_what_is_in_memory_is_found() -> None:
    saver, storage = await stored()
    search = ContentSearch(saver)
    storage.commit_fault = storage.read_fault = StorageError("storage_failed", "no")
    await saver.write([said("b", "e2", "a bell")])
    assert await search.find(LISTED, "bell") == {"b"}
    storage.commit_fault = storage.read_fault = None
    assert await search.find(LISTED, "bell") == {"a", "b"}, "what failed is not remembered"
