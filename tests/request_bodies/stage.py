"""Where a scene plays: fakes whose transport keeps every body; and the table of scenes."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from personae import CharacterPlayer
from personae.ports import HttpRequest

from tests.fakes import FakeResponse, FakeTransport, World
from tests.package.support import load_package
from tests.request_bodies.agents import Functions, running

ROOT = Path(__file__).parents[2]
RECORDED = Path(__file__).with_name("recorded")

Files = dict[str, Any]
Scene = Callable[["Stage"], Awaitable[None]]
SCENES: dict[str, Scene] = {}
"""name -> what plays it; the modules ``scenes_*`` fill it."""


def scene(play: Scene) -> Scene:
    """Adds a function to the scenes; its name is that of the recorded file."""
    name = play.__name__.replace("_", "-")
    assert name not in SCENES, name
    SCENES[name] = play
    return play


def folder(path: str, **more: str | bytes) -> Files:
    """The files of a package's folder; ``more`` adds some, ``__`` in their names for ``/``."""
    root = ROOT / path
    files: Files = {
        one.relative_to(root).as_posix(): one.read_bytes()
        for one in sorted(root.rglob("*"))
        if one.is_file()
    }
    return files | {name.replace("__", "/"): text for name, text in more.items()}


class RecordingTransport(FakeTransport):
    """Keeps each request's body as the text that is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    async def open(self, request: HttpRequest) -> FakeResponse:
        assert request.body is not None
        self.sent.append(request.body)
        return await super().open(request)

    def refuses(self, status: int, message: str, **headers: str) -> None:
        """Scripts an error of the provider."""
        body = json.dumps({"error": {"message": message}}).encode()
        response = FakeResponse([body], status)
        response.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self.script.append(response)


class Stage:
    """What a scene gets. ``transport`` takes the script of answers."""

    def __init__(self) -> None:
        self.transport = RecordingTransport()
        self.world = self.new_world()

    def new_world(self) -> World:
        """Another browser at the same endpoint."""
        world = World()
        world.transport = self.transport
        return world

    @asynccontextmanager
    async def playing(
        self, files: Files, functions: Mapping[str, Functions] | None = None, **settings: Any
    ) -> AsyncIterator[CharacterPlayer]:
        """A ready player of the package; ``functions`` stand in for its agents."""
        async with AsyncExitStack() as stack:
            if functions is None:
                functions = await stack.enter_async_context(running(load_package(_bytes(files))))
            self.world.sandbox.agents = functions
            given = {"base_url": "https://model.test/v1", "api_key": "k", "model": "big"}
            player = CharacterPlayer(
                {"files": files}, environment=self.world.environment(), **(given | settings)
            )
            await player.ready()
            stack.push_async_callback(player.dispose)
            yield player

    async def meanwhile(self, work: Awaitable[Any]) -> Any:
        """The outcome of what waits for time to pass."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.world.clock.advance(1_000)
        return await task


async def say(player: CharacterPlayer, stage: Stage, text: str, answer: str) -> None:
    stage.transport.says(answer)
    assert (await player.send(text))["content"] == answer


def last_id(player: CharacterPlayer, role: str) -> str:
    """The id of the newest entry of a role."""
    return [entry.id for entry in player.entries if entry.role == role][-1]


async def play(name: str) -> str:
    """Plays a scene; the bodies of its requests, a line each."""
    random.seed(7)
    stage = Stage()
    await SCENES[name](stage)
    assert stage.transport.script == [], "the script holds more answers than were asked for"
    return "".join(f"{body}\n" for body in stage.transport.sent)


def recorded(name: str) -> Path:
    return RECORDED / f"{name}.jsonl"


def _bytes(files: Files) -> dict[str, bytes]:
    return {name: data.encode() if isinstance(data, str) else data for name, data in files.items()}
