"""Finds conversations by what was said in them. Pure apart from the storage passed in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from personae.conversation.entries import Entry
from personae.errors import StorageError
from personae.ports import Query, Record, Storage

_SLICE = 400
"""Records that are read before others get a turn."""


class ContentSearch:
    """Keeps the text of the conversations it has read, as long as they do not change."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._texts: dict[str, tuple[int, str]] = {}

    async def find(self, conversations: list[dict[str, Any]], query: str) -> set[str]:
        """Ids of the conversations in which every word of ``query`` was said."""
        words = query.casefold().split()
        found = set()
        for item in conversations:
            text = await self._text(str(item["id"]), int(item["updatedAt"]))
            if words and all(word in text for word in words):
                found.add(str(item["id"]))
        return found

    async def _text(self, identity: str, updated: int) -> str:
        known = self._texts.get(identity)
        if known is None or known[0] != updated:
            try:
                records = await self._storage.read(Query("entries", (identity,)))
            except StorageError:
                return ""  # the list says what is wrong; here it is only not found
            known = self._texts[identity] = (updated, await _said(records))
        return known[1]


def newest_hit(entries: Sequence[Entry], query: str) -> str:
    """Id of the newest message that holds a word of ``query``, preferably all; empty: none."""
    words = query.casefold().split()
    best, most = "", 0
    for entry in entries:
        if entry.role in ("user", "assistant"):
            count = sum(word in entry.content.casefold() for word in words)
            if count and count >= most:
                best, most = entry.id, count
    return best


async def _said(records: list[Record]) -> str:
    parts = []
    for start in range(0, len(records), _SLICE):
        for record in records[start : start + _SLICE]:
            with suppress(ValueError, AttributeError):  # a damaged record says nothing
                entry = json.loads(record.value)
                if entry.get("role") in ("user", "assistant"):
                    parts.append(str(entry.get("content") or "").casefold())
        await asyncio.sleep(0)
    return "\n".join(parts)
