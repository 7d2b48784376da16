"""The user's settings: form fields, storage, and where the key is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from personae.storage.saver import Saver
from personae.ui.settings import app_settings as settings
from personae.ui.settings.app_settings import Settings, with_field

from tests.fakes import FakeClock, FakeNotifier, FakeStorage

SECRET = "sk-very-secret"


def everything(storage: FakeStorage) -> str:
    return repr(storage.tables["settings"])


async def test_what_is_saved_comes_back() -> None:
    storage = FakeStorage()
    kept = Settings(base_url="https://m.example/v1", model="m", temperature=0.4, keep_key=True)
    await settings.save(Saver(storage, FakeClock(), FakeNotifier()), replace(kept, api_key=SECRET))
    assert await settings.load(storage) == replace(kept, api_key=SECRET)


async def test_a_session_key_is_never_stored() -> None:
    storage = FakeStorage()
    await settings.save(Saver(storage, FakeClock(), FakeNotifier()), Settings(api_key=SECRET))
    assert SECRET not in everything(storage)
    assert (await settings.load(storage)).api_key == ""


async def test_choosing_the_session_removes_a_stored_key() -> None:
    storage = FakeStorage()
    await settings.save(
        Saver(storage, FakeClock(), FakeNotifier()), Settings(api_key=SECRET, keep_key=True)
    )
    assert SECRET in everything(storage)
    await settings.save(
        Saver(storage, FakeClock(), FakeNotifier()), Settings(api_key=SECRET, keep_key=False)
    )
    assert SECRET not in everything(storage)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"model": 5}',
        '{"temperature": "hot"}',
        '{"keep_key": 1}',
        '{"new": true}',
        "null",
    ],
)
def test_a_misshapen_record_falls_back_to_the_defaults(text: str) -> None:
    assert settings.from_record(text) == Settings()


def test_fields_take_what_is_typed() -> None:
    changed = with_field(Settings(), "temperature", "0.7")
    assert changed.temperature == 0.7
    assert with_field(changed, "temperature", " ").temperature is None
    assert with_field(Settings(cap_response=1), "cap_response", "").cap_response == 32_000
    assert with_field(Settings(), "model", "  m ").model == "m"


@pytest.mark.parametrize(
    ("name", "text"),
    [("temperature", "hot"), ("temperature", "3"), ("max_tokens", "0"), ("cap_response", "-1"),
     ("max_tokens", "inf"), ("top_p", "nan")],
)  # fmt: skip
def test_fields_refuse_what_makes_no_sense(name: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        with_field(Settings(), name, text)


def test_the_player_rehearses_until_a_model_is_named() -> None:
    assert Settings().player_options()["model"] == "rehearsal"
    assert Settings().label() == "Rehearsal, no AI"
    assert Settings(model="m").label() == "m"


def test_web_access_belongs_to_one_character() -> None:
    allowed = Settings(web_access={"a": True})
    assert allowed.player_options("a")["web_access"] is True
    assert allowed.player_options("b")["web_access"] is False


async def test_what_was_chosen_before_the_stored_settings_could_be_read_is_kept() -> None:
    stored = Settings(base_url="https://m.example/v1", model="m", temperature=0.4)
    chosen = Settings(model="other", web_access={"a": True})
    assert settings.merged(stored, chosen) == replace(stored, model="other", web_access={"a": True})


@pytest.mark.parametrize("text", ["{", "[]", "5", ""])
async def test_a_damaged_key_is_no_key(text: str) -> None:
    storage = FakeStorage()
    storage.tables["settings"] = {settings.KEY_RECORD: text}
    assert (await settings.load(storage)).api_key == ""
