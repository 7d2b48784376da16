"""Finds conversations by what was said in them, be it stored or yet to be stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from personae.errors import StorageError
from personae.ports import Query, Record
from personae.storage.saver import Saver

_SLICE = 400
"""Records that are read before others may run."""


class ContentSearch:
    """Keeps the text of the conversations it has read, as long as they do not change."""

    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self._texts: dict[str, tuple[int, str]] = {}

    async def find(self, conversations: Iterable[Mapping[str, Any]], query: str) -> set[str]:
        """Ids of the conversations in which every word of ``query`` was said.

        ``conversations``: their ``id`` and ``updatedAt``. What cannot be read now is not found.
        """
        words = query.casefold().split()
        found = set()
        for item in conversations:
            text = await self._text(str(item["id"]), int(item["updatedAt"]))
            if words and all(word in text for word in words):
                found.add(str(item["id"]))
        return found

    async def _text(self, identity: str, updated: int) -> str:
        known = self._texts.get(identity)
        if known is not None and known[0] == updated:
            return known[1]
        query = Query("entries", (identity,))
        try:
            records = await self._saver.read(query)
        except StorageError:
            # Not kept: the rest of it is there again when storage is.
            return await _said(self._saver.unstored(query))
        text = await _said(records)
        self._texts[identity] = updated, text
        return text


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
