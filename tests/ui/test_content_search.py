"""Conversations are found by what was said in them."""

from __future__ import annotations

import json

from personae.conversation.entries import Entry
from personae.errors import StorageError
from personae.ports import Put
from personae.ui.conversations.content_search import ContentSearch, newest_hit

from tests.fakes import FakeStorage


async def stored() -> FakeStorage:
    storage = FakeStorage()
    said = {
        ("a", "e1"): {"role": "user", "content": "The drowned BELL\nrings"},
        ("a", "e2"): {"role": "tool", "content": "secret tool words"},
        ("b", "e1"): {"role": "assistant", "content": "A bridge"},
    }
    await storage.commit([Put("entries", key, json.dumps(value)) for key, value in said.items()])
    return storage


def test_the_newest_message_with_most_of_the_words_is_the_hit() -> None:
    said = ["a bell and a rope", "a bell", "nothing"]
    entries = [
        Entry(id=f"e{number}", role="user", content=text, at=0) for number, text in enumerate(said)
    ]
    assert newest_hit(entries, "BELL rope") == "e0"
    assert newest_hit(entries, "bell") == "e1"
    assert newest_hit(entries, "bridge") == ""


LISTED = [{"id": "a", "updatedAt": 1}, {"id": "b", "updatedAt": 1}]


async def test_every_word_must_have_been_said() -> None:
    search = ContentSearch(await stored())
    assert await search.find(LISTED, "bell Drowned") == {"a"}
    assert await search.find(LISTED, "bell bridge") == set()
    assert await search.find(LISTED, "assistant") == set()
    assert await search.find(LISTED, "secret") == set()
    assert await search.find(LISTED, " ") == set()


async def test_a_changed_conversation_is_read_again() -> None:
    storage = await stored()
    search = ContentSearch(storage)
    await search.find(LISTED, "bell")
    await storage.commit(
        [Put("entries", ("b", "e2"), json.dumps({"role": "user", "content": "bell"}))]
    )
    assert await search.find(LISTED, "bell") == {"a"}
    newer = [LISTED[0], {"id": "b", "updatedAt": 2}]
    assert await search.find(newer, "bell") == {"a", "b"}


async def test_a_failed_read_finds_nothing() -> None:
    storage = await stored()
    storage.read_fault = StorageError("broken", "no")
    assert await ContentSearch(storage).find(LISTED, "bell") == set()
