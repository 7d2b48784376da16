"""Settings that two tabs change: neither brings back what the other one took away."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any, ClassVar, cast

import pytest
from personae.errors import StorageError
from personae.player.environment import Environment
from personae.ui.settings import app_settings
from personae.ui.settings.app_settings import Choice, Settings, with_web, without_access
from personae.ui.settings.current_settings import CurrentSettings
from personae.ui.settings.default_model import HostModel

from tests.fakes import FakeStorage, World

BASE = "https://m.example/v1"
SECRET = "sk-very-secret"
LINES = {"reader.js": ["@api studio.web"]}


def environment(storage: FakeStorage) -> Environment:
    world = World()
    world.storage = storage
    return world.environment()


class Tab:
    def __init__(self, storage: FakeStorage) -> None:
        self.environment = environment(storage)
        self.reports: list[BaseException] = []
        self.settings = CurrentSettings(
            self.environment, cast("Any", Running()), self.reports.append, HostModel()
        )

    @property
    def value(self) -> Settings:
        return self.settings.value

    async def change(self, changed: Settings) -> None:
        self.settings.change(changed)
        await Running.finished()


class Running:
    """``ui.dom.tasks.Tasks`` that can be waited for."""

    started: ClassVar[set[asyncio.Task[Any]]] = set()

    def start(self, work: Any) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.ensure_future(work)
        self.started.add(task)
        return task

    @classmethod
    async def finished(cls) -> None:
        while cls.started:
            await cls.started.pop()


async def two_tabs(stored: Settings) -> tuple[Tab, Tab, FakeStorage]:
    storage = FakeStorage()
    await app_settings.save(environment(storage).saver, stored)
    tabs = Tab(storage), Tab(storage)
    for tab in tabs:
        await tab.settings.load()
    return *tabs, storage


KEYED = Settings(base_url=BASE, model="m").with_key(SECRET).keeping(True)


@pytest.mark.parametrize("forget", [KEYED.keeping(False), KEYED.with_key("")])
async def test_a_key_that_one_tab_has_forgotten_is_not_stored_again(forget: Settings) -> None:
    one, other, storage = await two_tabs(KEYED)
    await one.change(forget)
    await other.change(replace(other.value, temperature=0.5))
    assert SECRET not in repr(storage.tables)
    assert (await app_settings.load(storage)).temperature == 0.5


async def test_web_access_that_one_tab_has_taken_away_stays_away() -> None:
    one, other, storage = await two_tabs(with_web(Settings(), "a", LINES))
    await one.change(without_access(one.value, {"a"}))
    await other.change(with_web(other.value, "b", LINES))
    assert (await app_settings.load(storage)).web_access == {"b": LINES}


async def test_a_cap_that_one_tab_has_lowered_stays_low() -> None:
    one, other, storage = await two_tabs(Settings(cap_response=9_000_000))
    await one.change(replace(one.value, cap_response=100))
    await other.change(replace(other.value, top_p=0.5))
    found = await app_settings.load(storage)
    assert (found.cap_response, found.top_p) == (100, 0.5)


async def test_both_tabs_changes_are_there() -> None:
    one, other, storage = await two_tabs(KEYED)
    elsewhere = replace(one.value, base_url="https://other.example/v1", model="x")
    await one.change(elsewhere.with_key("sk-second").keeping(True))
    await other.change(replace(other.value, providers={"openai": Choice("https://o.example")}))
    found = await app_settings.load(storage)
    assert (found.base_url, found.model, found.api_key) == (
        "https://other.example/v1", "x", "sk-second",
    )  # fmt: skip
    assert replace(found, base_url=BASE).api_key == SECRET
    assert found.providers == {"openai": Choice("https://o.example")}


async def test_a_base_url_brings_its_models() -> None:
    one, other, storage = await two_tabs(Settings(base_url=BASE, model="m"))
    await one.change(replace(one.value, model="n"))
    await other.change(replace(other.value, base_url="https://other.example/v1"))
    found = await app_settings.load(storage)
    assert (found.base_url, found.model) == ("https://other.example/v1", "m")


async def test_a_session_key_can_be_kept_later() -> None:
    one, _, storage = await two_tabs(Settings(base_url=BASE))
    await one.change(one.value.with_key(SECRET))
    assert SECRET not in repr(storage.tables)
    await one.change(one.value.keeping(True))
    assert (await app_settings.load(storage)).api_key == SECRET


async def test_nothing_is_written_over_what_cannot_be_read() -> None:
    one, other, storage = await two_tabs(KEYED)
    await one.change(one.value.keeping(False))
    storage.read_fault = StorageError("storage_failed", "The storage failed.")
    await other.change(replace(other.value, top_p=0.5))
    assert other.reports
    storage.read_fault = None
    await other.change(replace(other.value, temperature=0.5))
    found = await app_settings.load(storage)
    assert (found.top_p, found.temperature, found.api_key) == (0.5, 0.5, "")
