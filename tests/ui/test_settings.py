"""The user's settings: form fields, storage, and where the key is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from personae.storage import settings_records
from personae.storage.saver import Saver
from personae.ui.settings import app_settings as settings
from personae.ui.settings.app_settings import Choice, Settings, with_field

from tests.fakes import FakeClock, FakeNotifier, FakeStorage

SECRET = "sk-very-secret"
BASE = "https://m.example/v1"


def everything(storage: FakeStorage) -> str:
    return repr(storage.tables["settings"])


async def saved(chosen: Settings, storage: FakeStorage | None = None) -> FakeStorage:
    storage = storage or FakeStorage()
    await settings.save(Saver(storage, FakeClock(), FakeNotifier()), chosen)
    return storage


async def test_what_is_saved_comes_back() -> None:
    entered = Settings(
        base_url=BASE,
        model="m",
        temperature=0.4,
        web_access={"a": {"x": ["@api studio.web"]}},
        providers={"openai": Choice("https://api.openai.com/v1", "gpt", "mini")},
    )
    kept = entered.with_key(SECRET).keeping(True)
    assert await settings.load(await saved(kept)) == kept


async def test_a_session_key_is_never_stored() -> None:
    storage = await saved(Settings(base_url=BASE).with_key(SECRET))
    assert SECRET not in everything(storage)
    assert (await settings.load(storage)).api_key == ""


async def test_choosing_the_session_removes_a_stored_key() -> None:
    kept = Settings(base_url=BASE).with_key(SECRET).keeping(True)
    storage = await saved(kept)
    assert SECRET in everything(storage)
    await saved(kept.keeping(False), storage)
    assert SECRET not in everything(storage)


async def test_each_key_is_kept_or_not_under_its_own_origin() -> None:
    both = Settings(base_url=BASE).with_key("sk-first").keeping(True)
    both = replace(both, base_url="https://other.example/v1").with_key("sk-second")
    storage = await saved(both)
    again = await settings.load(storage)
    assert again.api_key == ""
    assert replace(again, base_url=BASE).api_key == "sk-first"
    assert "sk-second" not in everything(storage)


async def test_a_key_that_was_taken_away_is_removed() -> None:
    kept = Settings(base_url=BASE).with_key(SECRET).keeping(True)
    storage = await saved(kept)
    await saved(kept.with_key(""), storage)
    assert SECRET not in everything(storage)


async def test_a_key_that_another_tab_has_kept_stays() -> None:
    storage = await saved(Settings(base_url=BASE).with_key(SECRET).keeping(True))
    await saved(Settings(model="m"), storage)
    assert replace(await settings.load(storage), base_url=BASE).api_key == SECRET


async def test_the_one_key_of_an_older_version_belongs_to_its_base_url() -> None:
    storage = FakeStorage()
    old = {"base_url": BASE, "model": "m", "cap_response": 5, "keep_key": True}
    storage.tables["settings"] = {
        settings_records.APP_RECORD: json.dumps(old),
        settings_records.OLD_KEY_RECORD: json.dumps(SECRET),
    }
    found = await settings.load(storage)
    assert (found.api_key, found.keeps_key, found.cap_response) == (SECRET, True, 5)
    assert replace(found, base_url="https://other.example/v1").api_key == ""
    await saved(found, storage)
    assert settings_records.OLD_KEY_RECORD not in storage.tables["settings"]
    assert await settings.load(storage) == found


async def test_a_key_of_an_older_version_without_a_base_url_is_given_to_nobody() -> None:
    storage = FakeStorage()
    storage.tables["settings"] = {settings_records.OLD_KEY_RECORD: json.dumps(SECRET)}
    assert not (await settings.load(storage)).keys


@pytest.mark.parametrize("base_url", [f"{BASE}?key={SECRET}", f"https://me:{SECRET}@m.example/v1"])
async def test_a_secret_in_a_stored_base_url_is_dropped(base_url: str) -> None:
    storage = FakeStorage()
    storage.tables["settings"] = {settings_records.APP_RECORD: json.dumps({"base_url": base_url})}
    found = await settings.load(storage)
    assert found.base_url == BASE
    assert SECRET not in everything(await saved(found))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"model": 5}',
        '{"temperature": "hot"}',
        '{"providers": [1], "keys": {"https://evil.example": "k"}, "kept": ["x"]}',
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


def test_the_player_rehearses_until_there_is_a_provider() -> None:
    assert Settings().player_options()["model"] == "rehearsal"
    keyed = Settings(base_url=BASE).with_key(SECRET)
    assert (keyed.player_options()["model"], keyed.rehearsing, keyed.label()) == (
        "",
        False,
        "No model chosen",
    )
    assert Settings().label() == "Rehearsal, no AI"
    assert Settings(model="m").label() == "m"


def test_web_access_belongs_to_one_character() -> None:
    lines = {"x": ["@api studio.web"]}
    allowed = Settings(web_access={"a": lines})
    assert allowed.player_options("a", lines)["web_access"] is True
    assert allowed.player_options("b", lines)["web_access"] is False


async def test_what_was_chosen_before_the_stored_settings_could_be_read_is_kept() -> None:
    stored = Settings(base_url="https://m.example/v1", model="m", temperature=0.4)
    chosen = Settings(model="other", web_access={"a": {"x": ["@api studio.web"]}})
    assert settings.merged(stored, Settings(), chosen) == replace(
        stored, model="other", web_access={"a": {"x": ["@api studio.web"]}}
    )


@pytest.mark.parametrize("text", ["{", "[]", "5", ""])
async def test_a_damaged_key_is_no_key(text: str) -> None:
    storage = await saved(Settings(base_url=BASE))
    storage.tables["settings"][settings_records.KEY_RECORDS, "https://m.example"] = text
    assert (await settings.load(storage)).api_key == ""


async def test_a_key_entered_before_the_stored_ones_could_be_read_is_beside_them() -> None:
    stored = Settings(base_url=BASE).with_key("sk-first").keeping(True)
    chosen = Settings(base_url="https://other.example/v1").with_key("sk-second")
    both = settings.merged(stored, Settings(), chosen)
    assert (both.api_key, replace(both, base_url=BASE).api_key) == ("sk-second", "sk-first")
    assert both.kept == stored.kept


def test_what_a_backup_may_bring_back() -> None:
    own = Settings(base_url=BASE, model="m", temperature=0.4).with_key(SECRET)
    assert settings.restorable(own) == {"temperature": 0.4}
    found = {
        "temperature": 1.5,
        "top_p": "high",
        "base_url": "https://evil.example",
        "cap_response": 10**9,
        "max_tokens": 10**6,
        "web_access": {"a": True},
        "model": "dear",
    }
    assert settings.restored(own, found) == replace(own, temperature=1.5)
    assert settings.restored(own, {"temperature": 99, "top_p": True}) == own


def test_a_restored_character_asks_for_web_access_again() -> None:
    own = Settings(web_access={"a": {}, "b": {}})
    assert settings.without_access(own, {"a"}).web_access == {"b": {}}
