"""The documented nginx recipes, run by nginx: the static bundle from a sub-path, and streams."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from personae_server.build import build

from tests.server.model_service import ModelService
from tests.server.nginx import needs_nginx, nginx
from tests.server.recipes import recipes
from tests.server.support import personae, serving

pytestmark = needs_nginx


@pytest.fixture
def site(static: Path, tmp_path: Path) -> Iterator[str]:
    out, folder = tmp_path / "out", tmp_path / "nginx"
    folder.mkdir()
    build(static, out)
    recipe = recipes("nginx")[0].replace("/srv/personae/", f"{out}/")
    with nginx(folder, recipe) as url:
        yield f"{url}/play/"


def test_every_file_of_the_list_is_served_from_the_sub_path(site: str, tmp_path: Path) -> None:
    listed = httpx.get(f"{site}bundle.json").json()["files"]
    for name in listed:
        answer = httpx.get(f"{site}{name}", headers={"Accept-Encoding": "identity"})
        assert answer.content == (tmp_path / "out" / name).read_bytes(), name
    assert httpx.get(site).text.startswith("<!doctype html>")
    assert httpx.get(f"{site}config.json").json()["proxy"] is False


def test_types_caching_sharing_and_policies(site: str) -> None:
    core = "assets/core-0a1b/core"
    kinds = {
        "": "text/html",
        f"{core}.mjs": "text/javascript",
        f"{core}.wasm": "application/wasm",
        "assets/core-0a1b/personae.whl": "application/zip",
        "config.json": "application/json",
    }
    for name, kind in kinds.items():
        headers = httpx.get(f"{site}{name}").headers
        assert headers["content-type"] == kind
        immutable = "immutable" in headers["cache-control"]
        assert immutable == name.startswith("assets/")
        assert ("access-control-allow-origin" in headers) == immutable
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-dns-prefetch-control"] == "off"
    library = httpx.get(f"{site}character-player.js").headers
    assert library["access-control-allow-origin"] == "*"
    frame = httpx.get(f"{site}assets/sandbox-0a1b/frame.html").headers
    assert frame["content-security-policy"] == "sandbox allow-scripts"
    assert httpx.get(site).headers["content-security-policy"] == "frame-ancestors 'self'"


def test_precompressed_files_are_used_and_unchanged_ones_are_not_sent(
    site: str, static: Path
) -> None:
    name = "assets/core-0a1b/core.wasm"
    with httpx.stream("GET", f"{site}{name}", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert raw == (static / f"{name}.gz").read_bytes()
    assert gzip.decompress(raw) == (static / name).read_bytes()
    known = {"If-None-Match": httpx.get(site).headers["etag"]}
    assert httpx.get(site, headers=known).status_code == 304


async def test_streams_pass_the_documented_reverse_proxy_at_once(
    static: Path, tmp_path: Path
) -> None:
    service = ModelService()
    async with serving(service.app) as upstream:
        environment = {"PERSONAE_RELAY_URL": f"{upstream}/v1", "PERSONAE_RELAY_MODELS": "*"}
        flags = ("--trusted-proxies", "127.0.0.1", "--proxy-rate", "1/hour")
        with personae(static, *flags, **environment) as (url, _):
            recipe = recipes("nginx")[1].replace("http://127.0.0.1:8000", url.rstrip("/"))
            with nginx(tmp_path, recipe) as front:
                async with httpx.AsyncClient(base_url=front, timeout=10) as client:
                    events = await first_and_last_event(client, service)
                    page = await client.get("/")
                    spoofed = {"X-Forwarded-For": "198.51.100.1"}
                    limited = [
                        (await client.get("/proxy?url=ftp://a/", headers=spoofed)).status_code
                        for _ in range(2)
                    ]
    assert events == ("Hel", "[DONE]")
    assert "content-security-policy" in page.headers
    assert limited == [400, 429]


async def first_and_last_event(client: httpx.AsyncClient, service: ModelService) -> tuple[str, str]:
    """What the first event says before the model may go on, and the last event's data."""
    body = {"model": "slow", "stream": True, "messages": []}
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        data = (line[6:] async for line in answer.aiter_lines() if line.startswith("data: "))
        async with asyncio.timeout(5):
            first = json.loads(await anext(data))
        assert not service.go.is_set()
        service.go.set()
        rest = [each async for each in data]
    return first["choices"][0]["delta"]["content"], rest[-1]
