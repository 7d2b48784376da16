"""``python -m tests.server.bench``: hundreds of downloads and streams, and hostile neighbours.

Prints two tables: how long the load took and what it cost the server in memory and open files;
and what one client felt of the server while another one attacked it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from tests.server.load import MIB, Bed, bed
from tests.server.neighbours import ATTACKS, STREAMS, TOKENS, felt, neighbourhood

Scenario = tuple[str, int, Callable[[Bed, int], Awaitable[None]]]


async def vanishing(server: Bed, number: int) -> None:
    if number % 2:
        await server.download(60 * MIB, vanish=True)
    else:
        await server.talk(100_000, vanish=True)


SCENARIOS: tuple[Scenario, ...] = (
    # One address has 4 look-ups of names at once and 64 in line.
    ("60 downloads of 1 MiB", 60, lambda server, _: server.download(MIB)),
    ("60 downloads of 8 MiB", 60, lambda server, _: server.download(8 * MIB)),
    ("300 streams of 50 events", 300, lambda server, _: server.talk(50)),
    ("300 streams of 500 events", 300, lambda server, _: server.talk(500)),
    ("100 clients that vanish", 100, vanishing),
)


def bundle_in(folder: Path) -> Path:
    """The least that the server starts with."""
    static = folder / "static"
    static.mkdir()
    (static / "index.html").write_text("<!doctype html>")
    return static


async def main() -> None:
    await under_load()
    await beside_neighbours()


async def under_load() -> None:
    print(f"{'at once':26}{'seconds':>9}{'MiB high':>10}{'MiB kept':>10}{'files':>7}")
    with tempfile.TemporaryDirectory() as folder:
        static = bundle_in(Path(folder))
        for title, clients, one in SCENARIOS:
            async with bed(static) as server:
                found = await server.measured(clients, partial(one, server))
            print(
                f"{title:26}{found.seconds:9.1f}{found.memory:10.1f}"
                f"{found.kept:10.1f}{found.open_files:7}"
            )


async def beside_neighbours() -> None:
    """``/healthz`` in milliseconds, tokens of the streams, hostile requests meanwhile."""
    print(
        f"\n{'beside another client':24}{'median':>9}{'worst':>10}{'tokens':>12}"
        f"{'attacks':>9}{'MiB high':>10}"
    )
    for name in (None, *ATTACKS):
        with tempfile.TemporaryDirectory() as folder:
            async with neighbourhood(bundle_in(Path(folder))) as (server, port):
                found = await felt(server, name, port)
        title = ATTACKS[name].title if name else "nobody"
        tokens = f"{found.tokens}/{STREAMS * TOKENS}"
        print(
            f"{title:24}{found.median * 1000:9.1f}{found.worst * 1000:10.1f}"
            f"{tokens:>12}{found.attacks:9}{found.memory:10.1f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
