"""Storage that lasts as long as the page: for embedders who ask, and where the browser has none."""

from __future__ import annotations

from collections.abc import Sequence

from personae.ports import Delete, Key, Put, Record, Table


class MemoryStorage:
    """ports.Storage."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[Key, str | bytes]] = {}

    async def read(
        self,
        table: Table,
        prefix: Key = (),
        *,
        limit: int | None = None,
        before: Key | None = None,
    ) -> list[Record]:
        keys = sorted(
            key
            for key in self._tables.get(table, {})
            if starts_with(key, prefix) and (before is None or key < before)
        )
        if limit is not None:
            keys = keys[max(0, len(keys) - limit) :]
        return [Record(key, self._tables[table][key]) for key in keys]

    async def keys(self, table: Table) -> list[Key]:
        return sorted(self._tables.get(table, {}))

    async def commit(self, writes: Sequence[Put | Delete]) -> None:
        for write in writes:
            records = self._tables.setdefault(write.table, {})
            if isinstance(write, Put):
                records[write.key] = write.value
            elif write.prefix:
                for key in [key for key in records if starts_with(key, write.key)]:
                    del records[key]
            else:
                records.pop(write.key, None)


def starts_with(key: Key, prefix: Key) -> bool:
    return key[: len(prefix)] == prefix
