"""Which names are answered: a page that rebinds its own name to this machine gets nothing."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from personae.errors import UsageError
from personae_server.app import create_app
from personae_server.hosts import HostNames
from personae_server.settings import Settings

from tests.server.model_service import KEY
from tests.server.support import client_of, code_of, serving
from tests.server.test_relay import HELLO, relayed

PATHS = ["/", "/config.json", "/healthz", "/proxy?url=http://127.0.0.1/", "/read?url=http://a/",
         "/characters/", "/v1/models", "/character-player.js", "/missing"]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
async def test_a_rebinding_page_gets_nothing(static: Path, tmp_path: Path, path: str) -> None:
    settings = Settings(static=static, reader=True, characters=tmp_path)
    async with client_of(settings) as client:
        # Same-origin for the browser: nothing but the name tells the page apart.
        headers = {"Host": "rebind.attacker.example:8000", "Sec-Fetch-Site": "same-origin"}
        answer = await client.get(path, headers=headers)
    assert (answer.status_code, code_of(answer)) == (421, "host_unknown")
    assert "rebind.attacker.example" in answer.text and "--host-names" in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers or path == "/character-player.js"


async def test_a_rebinding_page_reaches_no_model(static: Path) -> None:
    async with relayed(static, relay_key=KEY) as (service, client):
        headers = {"Host": "rebind.attacker.example", "Origin": "http://rebind.attacker.example"}
        answer = await client.post("/v1/chat/completions", json=HELLO, headers=headers)
        models = await client.get("/v1/models", headers=headers)
    assert code_of(answer) == code_of(models) == "host_unknown"
    assert service.requests == service.headers == []


async def raw(url: str, *lines: str) -> bytes:
    """What is answered to exactly these lines."""
    parts = httpx.URL(url)
    reader, writer = await asyncio.open_connection(parts.host, parts.port)
    writer.write("\r\n".join([*lines, "Connection: close", "", ""]).encode())
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["GET /healthz HTTP/1.1", "Host: 127.0.0.1:1"], b"200"),
        (["GET /healthz HTTP/1.1", "Host: evil.example"], b"421"),
        (["GET http://127.0.0.1/healthz HTTP/1.1", "Host: evil.example"], b"421"),
        (["GET /healthz HTTP/1.1", "Host: evil.example", "X-Forwarded-Host: localhost"], b"421"),
        (["GET /healthz HTTP/1.1", "Host:"], b"421"),
        (["GET /healthz HTTP/1.1", "Host: localhost", "Host: evil.example"], b"400"),
        (["GET /healthz HTTP/1.1"], b"400"),
        (["GET /healthz HTTP/1.0"], b"200"),
    ],
)
async def test_what_goes_over_the_wire(static: Path, lines: list[str], status: bytes) -> None:
    async with serving(create_app(Settings(static=static))) as url:
        answer = await raw(url, *lines)
    assert answer.split(b" ")[1] == status


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "LOCALHOST:8000", "localhost.", "app.localhost:1", "127.0.0.1", "127.9.9.9:80",
        "[::1]:8000", "[::1]", "192.168.1.20:8000", "[fe80::1]", "8.8.8.8", "stage", "Stage:8000",
        "stage.local", "stage.lan:8000", "stage.home.arpa.", "stage.internal",
    ],
)  # fmt: skip
def test_without_a_word_from_the_operator_this_machine_answers_to(host: str) -> None:
    assert HostNames(machine="stage").answers(host)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "stage.evil.example",
        "evil.example:localhost", "localhost@evil.example", "evil.example/localhost", "",
        "stage.com", "xstage", "xlocalhost", "notlocalhost:80", "[evil.example]:80", "a b",
        "[::1]evil", "[::1].evil.example", "[::1]@evil.example:80",
        "127.0.0.1.nip.example", "0x7f.1.evil", "stage.local.evil.example", "\xe9.example", "*",
    ],
)  # fmt: skip
def test_no_other_name_is_answered(host: str) -> None:
    assert not HostNames(machine="stage").answers(host)


def test_the_machines_own_full_name_is_answered() -> None:
    names = HostNames(machine="stage.corp.example")
    assert names.answers("stage.corp.example") and names.answers("stage.local")
    assert not names.answers("other.corp.example")
    assert HostNames().answers(socket.gethostname())


def test_a_machine_without_a_name() -> None:
    names = HostNames(machine="")
    assert names.answers("localhost") and not names.answers("") and not names.answers(".local")


@pytest.mark.parametrize(
    ("added", "host", "answered"),
    [
        ("player.example", "player.example:443", True),
        ("Player.Example.", "PLAYER.example", True),
        ("player.example", "www.player.example", False),
        ("player.example:8000", "player.example", True),
        ("*.player.example", "www.player.example", True),
        ("*.player.example", "player.example", False),
        ("*.player.example", "evilplayer.example", False),
        ("spieler-m\xfcller.example", "xn--spieler-mller-4ob.example", True),
        ("*", "evil.example", True),
    ],
)
def test_the_operator_adds_names(added: str, host: str, answered: bool) -> None:
    assert HostNames([added], machine="stage").answers(host) is answered


@pytest.mark.parametrize(
    "name", ["https://player.example", "a/b", "*.", "a*.example", "a b", "::1"]
)
def test_what_is_no_name_is_told_at_the_start(static: Path, name: str) -> None:
    with pytest.raises(UsageError, match="host_names has") as caught:
        HostNames([name])
    assert caught.value.code == "setting_invalid"


async def test_no_name_is_looked_up(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def looked_up(*_: Any) -> None:
        raise AssertionError("a name was looked up")

    for name in ("getaddrinfo", "gethostbyname", "getfqdn"):
        monkeypatch.setattr(socket, name, looked_up)
    async with client_of(Settings(static=static, host_names=("player.example",))) as client:
        answer = await client.get("/healthz", headers={"Host": "player.example"})
    assert answer.status_code == 200
