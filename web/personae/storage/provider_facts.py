"""What providers have taught about themselves, kept across players and sessions.

A record per base URL, and per base URL and model: a list of the short words that
``llm.provider.quirks`` knows, and nothing of what was said. Invariants: what an endpoint takes
back is removed; nothing is written before the records could be read; every fault of storage leaves
a memory that works for as long as the page lives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping

from personae.errors import StorageError
from personae.llm.provider.quirks import find
from personae.ports import Delete, Key, Put, Query
from personae.storage.saver import Saver
from personae.written import dumps

RECORDS = "provider"
"""The first part of the records' keys, in the table of settings."""


class ProviderFacts(MutableMapping[str, list[str]]):
    """``llm.provider.quirks.Memory`` that lasts; ``load`` it before it is used."""

    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self._facts: dict[str, list[str]] = {}
        self._read = False

    async def load(self) -> None:
        """Reads what is stored, once; harmless when storage cannot be read."""
        if self._read:
            return
        try:
            records = await self._saver.read(Query("settings", (RECORDS,)))
        except StorageError:
            return
        self._read = True
        for record in records:
            facts = _facts(record.value)
            if facts:
                self._facts.setdefault(str(record.key[-1]), facts)

    def __getitem__(self, name: str) -> list[str]:
        return self._facts[name]

    def __setitem__(self, name: str, facts: list[str]) -> None:
        if facts == self._facts.get(name, []):
            return
        if not facts:
            del self[name]
            return
        self._facts[name] = facts
        self._write(Put("settings", _key(name), dumps(facts)))

    def __delitem__(self, name: str) -> None:
        del self._facts[name]
        self._write(Delete("settings", _key(name)))

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def _write(self, write: Put | Delete) -> None:
        if self._read:
            self._saver.write_later([write])


def _key(name: str) -> Key:
    return (RECORDS, name)


def _facts(value: str | bytes) -> list[str]:
    """The facts of a record that this version knows; of a damaged one none."""
    try:
        found = json.loads(value)
    except ValueError:
        return []
    return (
        sorted({str(fact) for fact in found if find(str(fact))}) if isinstance(found, list) else []
    )
