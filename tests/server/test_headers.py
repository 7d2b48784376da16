"""Security headers, for each kind of path."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from personae_server.app import create_app
from personae_server.settings import Settings
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.server.support import client_of


def directives(policy: str) -> dict[str, list[str]]:
    parts = [part.split() for part in policy.split(";")]
    return {name: values for name, *values in parts}


async def test_the_page_runs_only_its_own_scripts(static: Path) -> None:
    async with client_of(Settings(static=static)) as client:
        headers = (await client.get("/")).headers
    policy = directives(headers["content-security-policy"])
    assert policy["default-src"] == ["'none'"]
    assert policy["script-src"] == ["'self'", "'unsafe-eval'", "'wasm-unsafe-eval'"]
    assert policy["connect-src"] == ["*", "http:", "https:", "data:", "blob:"]
    assert policy["img-src"] == ["'self'", "data:", "blob:"]
    assert policy["worker-src"] == ["'self'", "blob:"]
    assert policy["frame-src"] == ["'self'"]
    assert policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-dns-prefetch-control"] == "off"
    assert "microphone=()" in headers["permissions-policy"]
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/frame.html", "/assets/sandbox-0a1b/frame.html"])
async def test_the_frame_keeps_its_own_policy_and_can_be_embedded(static: Path, path: str) -> None:
    async with client_of(Settings(static=static)) as client:
        answer = await client.get(path)
    headers = answer.headers
    assert answer.status_code == 200
    assert headers["content-security-policy"] == "sandbox allow-scripts"
    assert headers["access-control-allow-origin"] == "*"
    assert headers["cross-origin-resource-policy"] == "cross-origin"
    assert "x-frame-options" not in headers


@pytest.mark.parametrize(
    ("path", "shared"),
    [
        ("/character-player.js", True),
        ("/frame.html", True),
        ("/assets/core-0a1b/core.wasm", True),
        ("/", False),
        ("/config.json", False),
        ("/healthz", False),
        ("/proxy", False),
        ("/missing", False),
    ],
)
async def test_only_what_embedders_need_is_shared(static: Path, path: str, shared: bool) -> None:
    async with client_of(Settings(static=static)) as client:
        headers = (await client.get(path, headers={"Origin": "https://site.example"})).headers
    assert headers.get("access-control-allow-origin") == ("*" if shared else None)
    assert headers["cross-origin-resource-policy"] == ("cross-origin" if shared else "same-origin")


@pytest.mark.parametrize(
    ("ancestors", "expected"),
    [
        (("'self'",), ["'self'"]),
        ((), ["'none'"]),
        (("'self'", "https://site.example"), ["'self'", "https://site.example"]),
    ],
)
async def test_the_operator_decides_who_may_frame_the_page(
    static: Path, ancestors: tuple[str, ...], expected: list[str]
) -> None:
    async with client_of(Settings(static=static, frame_ancestors=ancestors)) as client:
        policy = (await client.get("/")).headers["content-security-policy"]
    assert directives(policy)["frame-ancestors"] == expected


@pytest.mark.parametrize("path", ["/", "/frame.html", "/character-player.js", "/proxy", "/missing"])
async def test_no_answer_lets_names_be_looked_up_before_a_click(static: Path, path: str) -> None:
    async with client_of(Settings(static=static)) as client:
        headers = (await client.get(path)).headers
    assert headers["x-dns-prefetch-control"] == "off"


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["web/index.html", "worker/src/frame.html"])
def test_a_static_host_needs_no_header_for_that(page: str) -> None:
    """The markup says it before anything that a browser could look up."""
    text = (ROOT / page).read_text("utf-8")
    said = text.index('<meta http-equiv="x-dns-prefetch-control" content="off">')
    first = min(text.find(tag) for tag in ("<link", "<script", "<body", "<a ") if tag in text)
    assert text.index("<head>") < said < first


async def test_a_mount_point_changes_nothing(static: Path) -> None:
    app = Starlette(routes=[Mount("/play", create_app(Settings(static=static)))])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(
        transport=transport, verify=False, base_url="http://localhost"
    ) as client:
        frame = await client.get("/play/frame.html")
        config = await client.get("/play/config.json")
    assert frame.status_code == 200
    assert frame.headers["content-security-policy"] == "sandbox allow-scripts"
    assert config.json()["proxy"] is True
