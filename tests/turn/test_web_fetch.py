"""studio.web.fetch and the phrases its refusals must contain."""

from __future__ import annotations

import pytest
from personae.errors import BridgeError
from personae.turn.studio.web_fetch import max_chars

from tests.player.support import World
from tests.turn.test_bridge import ask

PAGE = {
    "url": "https://example.org/end",
    "status": 200,
    "contentType": "text/html",
    "title": "Example",
    "text": "Readable.",
    "truncated": False,
}


def world(**pages):
    made = World()
    made.pages = {"https://example.org/": PAGE, **pages}
    return made


async def test_a_page_is_read_through_the_host():
    page = await ask("web.fetch", "https://example.org/", world=world(), web_access=True)
    assert page == PAGE


@pytest.mark.parametrize(("offered", "allowed"), [(False, True), (True, False), (False, False)])
async def test_without_host_or_switch_it_is_not_implemented(offered, allowed):
    made = world() if offered else World()
    _, message = await ask("web.fetch", "https://example.org/", world=made, web_access=allowed)
    assert "not implemented" in message


@pytest.mark.parametrize(
    ("url", "phrase"),
    [
        ("", "not a valid URL"),
        ("example.org", "not a valid URL"),
        ("https://", "not a valid URL"),
        ("http://[::1", "not a valid URL"),
        ("https://a b.org/", "not a valid URL"),
        ("https://user:pw@example.org/", "not a valid URL"),
        ("https://example.org\\@evil.org/", "not a valid URL"),
        ("ftp://example.org/", "only http(s)"),
        ("javascript:alert(1)", "only http(s)"),
        ("file:///etc/passwd", "only http(s)"),
        ("http://127.0.0.1/", "blocked"),
        ("http://localhost:8000/", "blocked"),
        ("http://192.168.1.1/", "blocked"),
        ("http://169.254.169.254/meta", "blocked"),
        ("http://[::1]/", "blocked"),
        ("http://[fd00::1]/", "blocked"),
        ("http://printer.local/", "blocked"),
    ],
)
async def test_what_the_url_alone_tells_is_refused(url, phrase):
    _, message = await ask("web.fetch", url, world=world(), web_access=True)
    assert phrase in message


async def test_the_hosts_refusal_reaches_the_agent():
    refusing = world(**{"https://example.org/x": BridgeError("read_blocked", "blocked: private")})
    answer = await ask("web.fetch", "https://example.org/x", world=refusing, web_access=True)
    assert answer == ("read_blocked", "blocked: private")


@pytest.mark.parametrize(
    ("options", "chars"),
    [
        (None, 8000),
        ({}, 8000),
        ({"maxChars": 1000}, 1000),
        ({"maxChars": 1}, 500),
        ({"maxChars": 1e9}, 30000),
        ({"maxChars": "many"}, 8000),
        ({"maxChars": True}, 8000),
        ({"maxChars": float("nan")}, 8000),
    ],
)
def test_max_chars_is_clamped(options, chars):
    assert max_chars(options) == chars
