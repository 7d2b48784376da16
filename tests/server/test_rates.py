"""Rates: per client, in memory or in a shared Redis, and what happens when the store fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeredis import TcpFakeServer
from personae_server.errors import HttpError
from personae_server.rates import Budget, Places, Rate, client_of, open_store
from personae_server.settings import Settings

from tests.server.support import client_of as app_client
from tests.server.support import code_of


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("93.184.215.14", "93.184.215.14"),
        ("::ffff:93.184.215.14", "93.184.215.14"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("/run/socket", "unknown"),
    ],
)
def test_a_client_is_what_one_line_has(address: str, client: str) -> None:
    assert client_of({"client": (address, 1)}) == client


def test_a_client_without_an_address() -> None:
    assert client_of({"client": None}) == "unknown"


async def spent(rate: Rate, client: str, times: int) -> int:
    """How many of ``times`` requests were let through."""
    through = 0
    for _ in range(times):
        try:
            await rate.spend(client)
            through += 1
        except HttpError as error:
            assert (error.status, error.code) == (429, "rate_limited")
            assert int(error.headers["Retry-After"]) > 0
    return through


@pytest.fixture(params=["memory", "redis"])
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "memory":
        yield "memory://"
        return
    server = TcpFakeServer(("127.0.0.1", 0), server_type="redis")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"redis://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join(5)


async def close(store: Any) -> None:
    bridge = getattr(store, "bridge", None)
    if bridge is not None:
        await bridge.get_connection().aclose()


async def test_each_client_has_its_own_count(store_url: str) -> None:
    store = open_store(store_url)
    rate = Rate(store, "proxy", "3/hour")
    assert await spent(rate, "a", 5) == 3
    assert await spent(rate, "b", 5) == 3
    assert await spent(Rate(store, "reader", "3/hour"), "a", 5) == 3
    await close(store)


async def test_every_rate_of_several_holds(store_url: str) -> None:
    store = open_store(store_url)
    assert await spent(Rate(store, "proxy", "100/hour;2/minute"), "a", 5) == 2
    await close(store)


async def test_a_budget_counts_tokens(store_url: str) -> None:
    store = open_store(store_url)
    budget = Budget(store, "tokens", "100/day")
    await budget.check("a")
    await budget.spend("a", 60)
    await budget.check("a")
    await budget.spend("a", 60)
    with pytest.raises(HttpError) as caught:
        await budget.check("a")
    assert (caught.value.status, caught.value.code) == (429, "budget_spent")
    await budget.check("b")
    await close(store)


@pytest.mark.parametrize("store_url", ["redis"], indirect=True)
async def test_processes_share_one_count(store_url: str) -> None:
    stores = [open_store(store_url), open_store(store_url)]
    rates = [Rate(store, "proxy", "3/hour") for store in stores]
    through = [await spent(rates[number % 2], "a", 1) for number in range(6)]
    assert sum(through) == 3
    for store in stores:
        await close(store)


async def test_without_its_store_nothing_passes(static: Path) -> None:
    async with app_client(Settings(static=static, rate_store="redis://127.0.0.1:1")) as client:
        answer = await client.get("/proxy?url=http://a.example/")
        page = await client.get("/")
    assert (answer.status_code, code_of(answer)) == (503, "rates_unavailable")
    assert answer.headers["retry-after"]
    assert "127.0.0.1" not in answer.text
    assert page.status_code == 200


async def test_the_proxy_and_the_reader_are_limited(static: Path) -> None:
    settings = Settings(static=static, reader=True, proxy_rate="1/hour", reader_rate="1/hour")
    async with app_client(settings) as client:
        for path in ("/proxy", "/read"):
            codes = [code_of(await client.get(f"{path}?url=ftp://a/")) for _ in range(2)]
            assert codes == ["url_scheme", "rate_limited"]


def test_places_come_back() -> None:
    places = Places(1)
    with places.take("a"), places.take("b"):
        with pytest.raises(HttpError) as caught, places.take("a"):
            pass
        assert caught.value.code == "too_many_streams"
    with places.take("a"):
        pass
    assert not places._taken
