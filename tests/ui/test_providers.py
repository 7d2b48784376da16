"""Presets, model lists and what a failed test says."""

from __future__ import annotations

import json

import pytest
from personae.errors import ModelError
from personae.ports import HttpRequest
from personae.ui.settings import providers

from tests.fakes import FakeResponse


class Transport:
    def __init__(self, answer: FakeResponse | ModelError) -> None:
        self.answer = answer
        self.requests: list[HttpRequest] = []

    async def open(self, request: HttpRequest) -> FakeResponse:
        self.requests.append(request)
        if isinstance(self.answer, ModelError):
            raise self.answer
        return self.answer


def replies(body: object, status: int = 200) -> Transport:
    text = body if isinstance(body, str) else json.dumps(body)
    return Transport(FakeResponse([text[:5].encode(), text[5:].encode()], status))


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "b"}, {"id": "a"}, {"id": "b"}]},
        {"models": [{"name": "a"}, {"name": "b"}]},
        ["b", "a", {}],
    ],
)
async def test_models_in_every_shape(body: object) -> None:
    transport = replies(body)
    assert await providers.fetch_models(transport, "https://m.example/v1/", "k") == ["a", "b"]
    [request] = transport.requests
    assert request.url == "https://m.example/v1/models"
    assert request.headers["authorization"] == "Bearer k"


async def test_no_key_sends_no_authorization() -> None:
    transport = replies({"data": []})
    await providers.fetch_models(transport, "http://localhost:1/v1", "")
    assert "authorization" not in transport.requests[0].headers


@pytest.mark.parametrize("body", ["<html>", '{"data": 5}', "7"])
async def test_what_is_no_list_says_so(body: str) -> None:
    with pytest.raises(ModelError, match="list of models"):
        await providers.fetch_models(replies(body), "https://m.example/v1", "")


async def test_the_test_names_what_the_provider_says() -> None:
    transport = replies({"error": {"message": "Incorrect API key"}}, 401)
    with pytest.raises(ModelError, match=r"key was refused \(401\): Incorrect API key"):
        await providers.test_connection(transport, "https://m.example/v1", "k", "m")
    assert json.loads(transport.requests[0].body or "")["model"] == "m"


async def test_a_page_instead_of_a_completion_is_the_wrong_address() -> None:
    with pytest.raises(ModelError, match="base URL"):
        await providers.test_connection(replies("<html>"), "https://m.example", "k", "m")


async def test_a_good_answer_names_the_model() -> None:
    said = await providers.test_connection(replies({"choices": []}), "https://m.example", "", "m")
    assert said == "m answers."


UNREACHABLE = ModelError("unreachable", "Failed to fetch")


@pytest.mark.parametrize(
    ("base_url", "secure", "relay", "words"),
    [
        ("http://localhost:11434/v1", False, False, "Is the server running"),
        ("http://model.lan/v1", True, False, "secure page may not call an http address"),
        ("https://m.example/v1", True, False, "CORS"),
        ("https://m.example/v1", True, True, "This site"),
    ],
)
def test_a_failure_is_explained(base_url: str, secure: bool, relay: bool, words: str) -> None:
    assert words in providers.explain_failure(UNREACHABLE, base_url, secure, relay)


def test_settings_are_recognised_as_a_preset() -> None:
    assert providers.preset_of("", "") == "rehearsal"
    assert providers.preset_of("https://api.openai.com/v1/", "gpt") == "openai"
    assert providers.preset_of("https://h.example/v1", "", "https://h.example/v1") == "relay"
    assert providers.preset_of("https://else.example/v1", "m") == "custom"


def test_presets_are_distinct_and_hold_nothing_secret() -> None:
    assert len({preset.id for preset in providers.PRESETS}) == len(providers.PRESETS)
    assert all("key=" not in preset.base_url for preset in providers.PRESETS)
