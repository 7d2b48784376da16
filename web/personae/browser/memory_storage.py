"""Storage that lasts as long as the page: for embedders who ask, and where the browser has none."""

from __future__ import annotations

from collections.abc import Sequence

from personae.ports import Delete, Key, Put, Query, Record, Table


class MemoryStorage:
    """ports.Storage."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[Key, str | bytes]] = {}

    async def read(self, query: Query) -> list[Record]:
        return query.among(self._tables.get(query.table, {}))

    async def keys(self, table: Table) -> list[Key]:
        return sorted(self._tables.get(table, {}))

    async def commit(self, writes: Sequence[Put | Delete]) -> None:
        for write in writes:
            records = self._tables.setdefault(write.table, {})
            if isinstance(write, Put):
                records[write.key] = write.value
            elif write.prefix:
                for key in [key for key in records if write.covers(key)]:
                    del records[key]
            else:
                records.pop(write.key, None)
