"""Which model answers when the user has chosen none."""

from __future__ import annotations

from dataclasses import replace

import pytest
from personae.player.environment import Environment
from personae.ui.dom.tasks import Tasks
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.current_settings import CurrentSettings
from personae.ui.settings.default_model import HostModel

from tests.fakes import FakeResponse, World, breathe

HOST = HostModel("https://player.example/v1", "house")
OWN = Settings(base_url="https://m.example/v1", model="mine")


def test_a_visitor_is_answered_by_the_hosts_model() -> None:
    visitor = HOST.assumed(Settings(temperature=0.5))
    assert (visitor.base_url, visitor.model, visitor.temperature) == (HOST.base_url, "house", 0.5)
    assert not visitor.rehearsing
    assert HOST.assumed(Settings(base_url=HOST.base_url)).model == "house"


@pytest.mark.parametrize(
    "chosen", [OWN, replace(OWN, model=""), Settings(model="rehearsal"), Settings(model="typed")]
)
def test_what_was_chosen_stays(chosen: Settings) -> None:
    assert HOST.assumed(chosen) == chosen == HOST.chosen(chosen)
    assert HostModel().assumed(chosen) == chosen


def test_a_host_without_models_leaves_the_rehearsal() -> None:
    assert HostModel().assumed(Settings()).rehearsing


def current(environment: Environment, host: HostModel) -> CurrentSettings:
    return CurrentSettings(environment, Tasks(_raise), _raise, host)


def _raise(error: BaseException) -> None:
    raise error


async def test_the_hosts_choice_is_not_stored_as_the_users() -> None:
    environment = World().environment()
    before = current(environment, HOST)
    await before.load()
    before.change(replace(before.value, temperature=0.5))
    await breathe()
    later = current(environment, HostModel(HOST.base_url, "newer"))
    await later.load()
    assert (later.value.model, later.value.temperature) == ("newer", 0.5)
    own = replace(later.value, base_url=OWN.base_url, model=OWN.model)
    later.change(own)
    await breathe()
    again = current(environment, HOST)
    await again.load()
    assert again.value == own


async def test_settings_of_before_with_a_provider_and_no_model_get_one() -> None:
    world = World()
    world.transport.script.append(FakeResponse([b'{"data": ["whisper-1", "talks"]}']))
    settings = current(world.environment(), HostModel())
    settings.value = Settings(base_url=OWN.base_url).with_key("k")
    assert settings.value.lacks_model
    assert await settings.first_model() == "talks"
