"""The scripted provider itself: what end-to-end tests rely on."""

from __future__ import annotations

import httpx
import pytest

from tests.provider import ModelProvider, Reset, Turn, error, file, says


def post(provider: ModelProvider, **body: object) -> httpx.Response:
    return httpx.post(f"{provider.base_url}/chat/completions", json=body, trust_env=False)


def get(url: str, **headers: str) -> httpx.Response:
    return httpx.get(url, headers=headers, trust_env=False)


def test_the_script_is_played_in_order_and_recorded(provider: ModelProvider) -> None:
    provider.script(says("one"), error(418, "two"), lambda body: says(body["say"]))
    texts = [post(provider, say=f"word{n}").text for n in range(3)]
    assert "one" in texts[0] and "two" in texts[1] and "word2" in texts[2]
    assert [seen.body["say"] for seen in provider.chats] == ["word0", "word1", "word2"]
    assert [seen.ended for seen in provider.chats] == ["complete"] * 3


def test_a_spent_script_says_so(provider: ModelProvider) -> None:
    assert post(provider).status_code == 400
    provider.always(says("again"))
    assert "again" in post(provider).text and "again" in post(provider).text


def test_a_reset_breaks_the_connection(provider: ModelProvider) -> None:
    provider.script(says("half").without_end(Reset()))
    with pytest.raises(httpx.RemoteProtocolError):
        post(provider)
    assert provider.chats[0].ended == "reset"


def test_files_with_and_without_cors(provider: ModelProvider) -> None:
    shared = provider.serve("/a.zip", b"PK1")
    private = provider.serve("/b.zip", b"PK2", cors=False)
    assert get(shared).content == b"PK1"
    assert get(shared).headers["access-control-allow-origin"] == "*"
    assert get(private).content == b"PK2"
    assert "access-control-allow-origin" not in get(private).headers
    moved = provider.serve("/old.zip", Turn(status=302, headers={"location": "/a.zip"}))
    assert get(moved).headers["location"] == "/a.zip"
    assert provider.serve("/c.bin", file(b"x", "application/octet-stream")).endswith("/c.bin")


def test_preflights_are_answered_only_with_cors(provider: ModelProvider) -> None:
    url = f"{provider.base_url}/chat/completions"
    answer = httpx.options(url, trust_env=False)
    assert (
        answer.status_code,
        "authorization" in answer.headers["access-control-allow-headers"],
    ) == (
        204,
        True,
    )
    provider.set_cors(False)
    assert httpx.options(url, trust_env=False).status_code == 405
    assert provider.requests == []


def test_nothing_is_left_of_earlier_tests(provider: ModelProvider) -> None:
    assert (provider.requests, get(f"{provider.url}/a.zip").status_code) == ([], 404)
