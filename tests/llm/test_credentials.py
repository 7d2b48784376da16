"""A key goes to the origin it was entered for, and to no other; secrets stay out of texts."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.credentials import (
    OWN_HOST,
    BadBaseUrl,
    Credentials,
    hide,
    origin_of,
    read_base_url,
    without_secrets,
)
from personae.errors import ModelError
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.llm.request.body import build_body, user_message

from tests.llm.fakes import FakeTransport, InstantClock, refused, said

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3"
HERE = "https://here.example/v1"
BODY = build_body([user_message("Hi")])


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://Here.Example/v1", "https://here.example"),
        ("HTTPS://here.example:443", "https://here.example"),
        ("https://here.example:0443/v1", "https://here.example"),
        ("http://here.example:443/v1", "http://here.example:443"),
        ("http://[::1]:8080/v1", "http://[::1]:8080"),
        ("https://here.example/v1?api-version=2024-05-01-preview", "https://here.example"),
        ("https://here.example?x=//evil.example", "https://here.example"),
        ("https://here.example#@evil.example", "https://here.example"),
        ("/v1", OWN_HOST),
        ("//evil.example/v1", ""),
        ("/\\evil.example/v1", ""),
        ("/\t/evil.example/v1", ""),
        ("https://here.example\\@evil.example/v1", ""),
        ("https://here.example@evil.example/v1", ""),
        ("https://user:pw@here.example/v1", ""),
        ("https:///evil.example/v1", ""),
        ("https:here.example/v1", ""),
        ("https://here.example:80a/v1", ""),
        ("https://here.ex\u0430mple/v1", ""),
        ("https://", ""),
        ("", ""),
        ("javascript:alert(1)", ""),
    ],
)
def test_the_origin_of_an_address(url: str, origin: str) -> None:
    assert origin_of(url) == origin


@pytest.mark.parametrize(
    "url",
    [
        f"https://here.example/v1?key={KEY}",
        "https://here.example/v1?api_key=abc",
        "https://here.example/v1?access-token=abc",
        f"https://here.example/v1?x={KEY}",
        f"https://here.example/v1?{KEY}",
        f"https://{KEY}@here.example/v1",
        f"https://me:{KEY}@here.example/v1",
    ],
)
def test_a_secret_in_a_base_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(BadBaseUrl, match="field of its own") as caught:
        read_base_url(url)
    assert caught.value.secret
    assert KEY not in str(caught.value)
    assert without_secrets(url) == HERE


@pytest.mark.parametrize("url", [HERE, f"{HERE}?api-version=2024-05-01-preview", "nonsense"])
def test_a_base_url_without_a_secret_is_kept(url: str) -> None:
    assert without_secrets(url) == url


async def test_a_key_pasted_as_base_url_is_in_no_error() -> None:
    endpoint = Endpoint(KEY, Credentials(), "m")
    with pytest.raises(ModelError, match="must begin with https") as caught:
        await ChatClient(FakeTransport(), InstantClock()).complete(endpoint, BODY)
    assert KEY not in f"{caught.value.message} {caught.value.detail}"


async def test_a_request_carries_the_key_of_its_own_origin_only() -> None:
    keys = Credentials().entered("sk-one", "https://one.example/v1")
    keys = keys.entered("sk-two", "https://two.example/openai?api-version=1")
    asked = {
        "https://one.example/other": "Bearer sk-one",
        "https://two.example/v1/chat/completions": "Bearer sk-two",
        "http://one.example/v1": None,
        "https://one.example:8443/v1": None,
        "https://three.example/v1": None,
    }
    for base_url, sent in asked.items():
        transport = FakeTransport(said("ok"))
        client = ChatClient(transport, InstantClock())
        await client.complete(Endpoint(base_url, keys, "m"), BODY)
        assert transport.requests[0].headers.get("Authorization") == sent


def test_keys_are_in_no_repr() -> None:
    keys = Credentials().entered(KEY, HERE)
    assert KEY not in repr(keys)
    assert KEY not in repr(Endpoint(HERE, keys, "m"))
    assert KEY not in f"{keys}"


async def test_anthropic_lets_pages_ask_and_lists_its_models_in_its_own_way() -> None:
    transport = FakeTransport(said("ok"), said("ok"))
    endpoint = Endpoint(
        "https://api.anthropic.com/v1",
        Credentials().entered(KEY, "https://api.anthropic.com/v1"),
        "m",
    )
    client = ChatClient(transport, InstantClock())
    await client.complete(endpoint, BODY)
    with pytest.raises(ModelError):
        await client.list_models(endpoint)
    chat, listed = (request.headers for request in transport.requests)
    assert chat["anthropic-dangerous-direct-browser-access"] == "true"
    assert chat["Authorization"] == f"Bearer {KEY}"
    assert listed["anthropic-dangerous-direct-browser-access"] == "true"
    assert (listed["x-api-key"], "Authorization" in listed) == (KEY, False)


async def test_other_providers_are_sent_no_headers_of_anthropic() -> None:
    transport = FakeTransport(said("ok"))
    await ChatClient(transport, InstantClock()).complete(Endpoint(HERE, Credentials(), "m"), BODY)
    assert not [name for name in transport.requests[0].headers if "anthropic" in name.lower()]


@pytest.mark.parametrize("cut", [0, 560, 575, 590, 600])
async def test_a_key_that_a_long_message_was_cut_in_is_hidden(cut: int) -> None:
    """What is shown is cut to a length; the part of a key before the cut is hidden too."""
    transport = FakeTransport(refused(400, "x" * cut + f" Wrong key {KEY}."))
    endpoint = Endpoint(HERE, Credentials().entered(KEY, HERE), "m")
    with pytest.raises(ModelError) as caught:
        await ChatClient(transport, InstantClock()).complete(endpoint, BODY)
    told = f"{caught.value.message} {caught.value.detail}"
    assert KEY[:12] not in told
    assert KEY[-12:] not in told


@given(
    before=st.text(max_size=30),
    after=st.text(max_size=30),
    secret=st.text(string.ascii_letters + string.digits + "-_", min_size=16, max_size=60),
    start=st.integers(0, 60),
)
def test_hiding_leaves_no_long_part_of_a_secret(
    before: str, after: str, secret: str, start: int
) -> None:
    told = hide(before + secret[min(start, len(secret) - 12) :] + after, secret)
    assert not any(secret[at : at + 12] in told for at in range(len(secret) - 11))


@given(st.text(max_size=200), st.text("abc", min_size=12, max_size=20))
def test_hiding_keeps_a_text_without_the_secret(text: str, secret: str) -> None:
    if not any(secret[at : at + 12] in text for at in range(len(secret) - 11)):
        assert hide(text, secret) == text
