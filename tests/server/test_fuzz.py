"""Any request gets an answer: no crash, no traceback, no key, nothing of the inside."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from personae_server.app import create_app
from personae_server.settings import Settings
from starlette.types import ASGIApp

from tests.server.model_service import KEY

PATHS = ["/proxy", "/read", "/characters/", "/characters/a.zip", "/v1/chat/completions",
         "/v1/models", "/config.json", "/", "/assets/core-0a1b/core.wasm"]  # fmt: skip
URLS = ["http://127.0.0.1/", "http://10.0.0.1:80/", "https://[::1]/", "http://a.example/x.zip",
        "ftp://a/", "http://a@b/", "http://[", "//x", "http://1/", "data:,x",
        "x" * 3000]  # fmt: skip
NAMES = ["url", "maxChars", "loadCharacter", "URL", ""]
HEADERS = ["accept-encoding", "if-none-match", "range", "if-range", "content-type", "host",
           "sec-fetch-site", "x-forwarded-for", "authorization", "content-length"]  # fmt: skip

text = st.text(max_size=40)
raw = st.binary(max_size=60).map(lambda data: data.translate(None, b"\r\n\0"))
query = st.lists(
    st.tuples(st.sampled_from(NAMES) | text, st.sampled_from(URLS) | text), max_size=4
).map(lambda pairs: "&".join(f"{name}={value}" for name, value in pairs).encode())
values = st.sampled_from([b"bytes=0-", b"bytes=9-1,2-", b"*", b'"x"', b"application/json", b"br"])
header = st.tuples(st.sampled_from(HEADERS).map(str.encode), values | raw)
body = st.sampled_from([b"{}", b'{"model":"m"}', b'{"model":"m","stream":true}']) | raw


@pytest.fixture
def app(static: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ASGIApp]:
    """Everything on; names resolve to nothing, so that nothing outside is ever asked."""

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror("unknown")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    characters = static.parent / "characters"
    characters.mkdir()
    (characters / "a.zip").write_bytes(b"PK")
    yield create_app(
        Settings(
            static=static, reader=True, characters=characters, cache=static.parent / "cache",
            relay_url="http://model.internal/v1", relay_key=KEY, relay_models=("m",),
            proxy_rate="1000000/second", reader_rate="1000000/second",
            relay_rate="1000000/second",
        )
    )  # fmt: skip


async def answered(app: ASGIApp, scope: dict[str, Any], content: bytes) -> tuple[int, bytes, bytes]:
    """Status, headers and body of one request, as a server would see them."""
    sent: list[Any] = []
    received = iter([{"type": "http.request", "body": content}])

    async def receive() -> Any:
        try:
            return next(received)
        except StopIteration:
            await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    async with asyncio.timeout(10):
        await app(scope, receive, send)
    start = sent[0]
    assert start["type"] == "http.response.start"
    headers = b"\n".join(name + b": " + value for name, value in start["headers"])
    return start["status"], headers, b"".join(each.get("body", b"") for each in sent[1:])


def check(status: int, headers: bytes, content: bytes) -> None:
    assert status in (200, 206, 304, 400, 403, 404, 405, 413, 415, 416, 421, 429, 502), content
    assert b"x-content-type-options: nosniff" in headers
    everything = headers + content
    for secret in (KEY.encode(), b"Traceback", b"model.internal", b"site-packages"):
        assert secret not in everything
    if status >= 400 and b"application/json" in headers:
        assert set(json.loads(content)["error"]) == {"code", "message"}


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    method=st.sampled_from(["GET", "HEAD", "POST", "PUT", "OPTIONS"]),
    path=st.sampled_from(PATHS) | text.map(lambda t: f"/{t}"),
    query=query | raw,
    headers=st.lists(header, max_size=4),
    content=body,
)
def test_any_request_gets_a_clean_answer(
    app: ASGIApp,
    method: str,
    path: str,
    query: bytes,
    headers: list[tuple[bytes, bytes]],
    content: bytes,
) -> None:
    scope = {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": method, "scheme": "http", "path": path, "root_path": "",
        "raw_path": path.encode(), "query_string": query, "headers": headers,
        "client": ("198.51.100.7", 1), "server": ("host", 80), "state": {},
    }  # fmt: skip
    check(*asyncio.run(answered(app, scope, content)))
