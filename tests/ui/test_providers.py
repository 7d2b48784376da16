"""Presets, and what a failure to reach a provider means."""

from __future__ import annotations

import pytest
from personae.credentials import read_base_url
from personae.errors import ModelError
from personae.ui.settings import providers

UNREACHABLE = ModelError("model_unreachable", "Failed to fetch", status=None)


@pytest.mark.parametrize(
    ("base_url", "keyed", "secure", "relay", "words"),
    [
        ("http://localhost:11434/v1", False, False, False, "Is the server running"),
        ("http://model.lan/v1", False, True, False, "secure page may not call an http address"),
        ("https://m.example/v1", False, True, False, "CORS"),
        ("https://m.example/v1", True, True, False, "The API key may be wrong"),
        ("https://m.example/v1", False, True, True, "This site"),
    ],
)
def test_a_failure_is_explained(
    base_url: str, keyed: bool, secure: bool, relay: bool, words: str
) -> None:
    said = providers.explain_failure(
        UNREACHABLE, base_url, keyed=keyed, page_is_secure=secure, relay=relay
    )
    assert words in said
    assert ("key" in said) == keyed


def test_what_the_client_says_is_said() -> None:
    error = ModelError("model_unauthorized", "The provider refused the API key.", status=401)
    said = providers.explain_failure(error, "", keyed=True, page_is_secure=True, relay=True)
    assert said == error.message


def test_settings_are_recognised_as_a_preset() -> None:
    assert providers.preset_of("", "") == "rehearsal"
    assert providers.preset_of("https://api.openai.com/v1/", "gpt") == "openai"
    assert providers.preset_of("https://h.example/v1", "", "https://h.example/v1") == "relay"
    assert providers.preset_of("https://else.example/v1", "m") == "custom"


def test_presets_are_distinct_and_hold_nothing_secret() -> None:
    assert len({preset.id for preset in providers.PRESETS}) == len(providers.PRESETS)
    urls = [preset.base_url for preset in providers.PRESETS if preset.base_url]
    assert [read_base_url(url).address for url in urls] == urls
    assert len({read_base_url(url).origin for url in urls}) == len(urls)
