"""What a query asks for of a table in memory."""

from __future__ import annotations

import pytest
from personae.ports import Delete, Key, Query

TABLE: dict[Key, str | bytes] = dict.fromkeys([("c", "3"), ("c", "1"), ("b", "9"), ("c", "2")], "v")


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        (Query("entries"), [("b", "9"), ("c", "1"), ("c", "2"), ("c", "3")]),
        (Query("entries", ("c",)), [("c", "1"), ("c", "2"), ("c", "3")]),
        (Query("entries", ("c", "2")), [("c", "2")]),
        (Query("entries", ("x",)), []),
        (Query("entries", ("c",), limit=2), [("c", "2"), ("c", "3")]),
        (Query("entries", ("c",), limit=9), [("c", "1"), ("c", "2"), ("c", "3")]),
        (Query("entries", ("c",), before=("c", "3")), [("c", "1"), ("c", "2")]),
        (Query("entries", ("c",), limit=1, before=("c", "3")), [("c", "2")]),
    ],
)
def test_records_come_ascending_and_narrowed(query: Query, keys: list[Key]) -> None:
    assert [record.key for record in query.among(TABLE)] == keys


def test_a_deletion_covers_its_key_or_all_that_begin_with_it() -> None:
    assert Delete("entries", ("c",), prefix=True).covers(("c", "1"))
    assert not Delete("entries", ("c",)).covers(("c", "1"))
    assert Delete("entries", ("c", "1")).covers(("c", "1"))
