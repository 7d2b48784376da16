"""Whether storage works, asked with the least that can be asked."""

from __future__ import annotations

from personae.ports import Query, Storage


async def probe(storage: Storage) -> None:
    """Raises StorageError while nothing can be read."""
    await storage.read(Query("settings", limit=1))
