"""The Python side of a Python worker, on CPython: values, store and event loop."""

from __future__ import annotations

import asyncio
import bisect
import copy
import gc
import heapq
import json
import operator
import pickle
import random
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SOURCE = Path(__file__).parent.parent.parent / "worker" / "src" / "python"
sys.path.append(str(SOURCE))

from personae_agent.loop import AgentLoop  # noqa: E402
from personae_agent.store import Store  # noqa: E402
from personae_agent.values import Refused, to_json  # noqa: E402

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)  # fmt: skip


@pytest.fixture(autouse=True)
def room_to_recurse() -> Iterator[None]:
    """Older CPythons count the C encoder's levels too; the one in the worker does not."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)
    yield
    sys.setrecursionlimit(limit)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(JSON)
def test_what_is_json_stays_what_it_is(value: Any) -> None:
    text = to_json(value, "value")
    assert text is not None
    assert json.loads(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "null"),
        ([float("inf"), 1], "[null,1]"),
        ({"a": len, "b": [len]}, '{"b":[null]}'),
        ((1, (2,)), "[1,[2]]"),
        ({1: "a", None: "b", False: "c", 2.5: "d"}, '{"1":"a","null":"b","false":"c","2.5":"d"}'),
        (datetime(2020, 1, 2, 3, 4, 5, 678901), '"2020-01-02T03:04:05.678Z"'),
        (datetime(2020, 1, 2, tzinfo=timezone(timedelta(hours=2))), '"2020-01-01T22:00:00.000Z"'),
        (datetime(2020, 1, 2, tzinfo=UTC), '"2020-01-02T00:00:00.000Z"'),
        (date(2020, 1, 2), '"2020-01-02"'),
        ("\ud800\udc00x", '"\ufffd\ufffdx"'),
        (2**70, "1180591620717411303424"),
        (2.0, "2.0"),
    ],
)
def test_one_outcome_for_each_kind(value: Any, text: str) -> None:
    assert to_json(value, "value") == text


def test_a_function_has_no_word() -> None:
    assert to_json(len, "value") is None


def nested(depth: int) -> list[Any]:
    deep: list[Any] = []
    for _ in range(depth - 1):
        deep = [deep]
    return deep


def circular() -> dict[str, Any]:
    outer: dict[str, Any] = {"a": [{}]}
    outer["a"][0]["b"] = outer
    return outer


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"a": [1, {2}]}, r"value\.a\[1\] is a set"),
        ({"a": b"x"}, r"value\.a is a bytes"),
        ([Decimal(1)], r"value\[0\] is a Decimal"),
        ({"a": {(1, 2): 3}}, r"value\.a has a key that is a tuple"),
        (circular(), r"value\.a\[0\]\.b contains itself"),
        (nested(1001), "deeper than 1000"),
        (nested(20_000), "deeper than 1000"),
    ],
)
def test_what_has_no_form_is_refused_with_its_place(value: Any, why: str) -> None:
    with pytest.raises(Refused, match=why):
        to_json(value, "value")


def test_a_thousand_levels_are_fine() -> None:
    assert to_json(nested(1000), "value") == "[" * 1000 + "]" * 1000


@pytest.mark.parametrize(
    "change",
    [
        lambda store: store.update(a=1.0),
        lambda store: store.update(a=True),
        lambda store: store["deep"]["list"].append(1),
        lambda store: store.pop("a"),
        lambda store: dict.__setitem__(store, "b", 1),
        lambda store: store.update(store={"x": store.pop("deep")}),
        lambda store: store["deep"].setdefault("more", []),
        lambda store: store["deep"].__init__(x=1),
        lambda store: heapq.heappush(store["deep"]["list"], 1),
        lambda store: bisect.insort(store["deep"]["list"], 1),
        lambda store: operator.iadd(store["deep"]["list"], [1]),
        lambda store: random.Random(1).shuffle(store["rows"]),
        lambda store: store["rows"].sort(key=lambda row: -row["n"]),
        lambda store: store["rows"][2].update(n=0),
        lambda store: store["rows"].__setitem__(slice(0, 2), []),
        lambda store: store["deep"].update(made=type(store["deep"])(list=[])),
    ],
)
def test_every_change_is_seen_once(change: Any) -> None:
    store = Store()
    store.load('{"a":1,"deep":{"list":[]},"rows":[{"n":1},{"n":2},{"n":3}]}')
    assert store.save() is None
    change(store.value)
    assert store.save() is not None
    assert store.save() is None


@pytest.mark.parametrize(
    "put",
    [
        lambda store, item: store.update(held=item),
        lambda store, item: store["rows"].append(item),
        lambda store, item: store["rows"].extend(({"in": item},)),
        lambda store, item: store["deep"].setdefault("held", item),
        lambda store, item: store["deep"].update(held=type(store["deep"])(item)),
        lambda store, item: heapq.heappush(store["list"], (1, item)),
    ],
)
def test_what_was_put_in_is_the_stores_own_at_the_next_call(put: Any) -> None:
    store, item = Store(), {"list": [1]}
    store.load('{"deep":{},"rows":[],"list":[]}')
    put(store.value, item)
    text = store.save()
    item["list"].append(2)
    assert store.save() is None
    assert text == to_json(store.value, "store")
    holders: list[Any] = [store.value]
    while holders:
        holder = holders.pop()
        for inner in holder.values() if isinstance(holder, dict) else list(holder):
            if isinstance(inner, list) and inner == [1]:
                inner.append(3)
                assert "[1,3]" in (store.save() or "")
            elif isinstance(inner, (dict, list)):
                holders.append(inner)


def test_copies_of_parts_are_plain() -> None:
    store = Store()
    store.load('{"deep":{"list":[{}]}}')
    for copied in (copy.copy, copy.deepcopy, lambda part: pickle.loads(pickle.dumps(part))):
        part = copied(store.value["deep"])
        assert type(part) is dict
        part["list"] = 1
    assert type(copy.deepcopy(store.value["deep"])["list"]) is list
    assert json.loads(json.dumps(store.value)) == store.value
    assert store.save() is None


def test_a_tuple_in_a_lists_place_is_no_change() -> None:
    store = Store()
    store.load('{"a":[1,2]}')
    store.value["a"] = (1, 2)
    assert store.save() is None


def test_the_loop_runs_what_is_ready_and_tells_of_timers() -> None:
    complaints: list[str] = []
    loop = AgentLoop(complaints.append)
    seen: list[str] = []

    async def work() -> None:
        seen.append("started")
        await asyncio.sleep(0)
        await asyncio.gather(asyncio.sleep(0.001), asyncio.sleep(0.002))
        seen.append("slept")
        raise ValueError("nobody waits for this")

    asyncio._set_running_loop(loop)
    try:
        loop.create_task(work())
        wait = loop.run_ready()
        while wait is not None:
            assert 0 <= wait <= 0.002
            wait = loop.run_ready()
    finally:
        asyncio._set_running_loop(None)
        loop.close()
    assert seen == ["started", "slept"]
    gc.collect()
    assert any("nobody waits for this" in complaint for complaint in complaints)
