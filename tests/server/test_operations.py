"""The server as a process: stop signals, workers, reverse proxies, metrics, the key's file."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.server.model_service import KEY, ModelService
from tests.server.support import (
    ZIP,
    personae,
    raw_upstream,
    serving,
)

STREAM = {"model": "slow", "stream": True, "messages": []}


def relay_to(upstream: str, **more: str) -> dict[str, str]:
    return {
        "PERSONAE_RELAY_URL": f"{upstream}/v1",
        "PERSONAE_RELAY_MODELS": "*",
        "PERSONAE_RELAY_KEY": KEY,
        **more,
    }


async def stopped_while_streaming(
    static: Path, service: ModelService, grace: str, go_on: bool
) -> tuple[str, int]:
    """What a client has read when the server was told to stop after the first event."""
    async with serving(service.app) as upstream:
        with personae(static, **relay_to(upstream, PERSONAE_GRACE=grace)) as (url, process):
            path = f"{url}v1/chat/completions"
            async with (
                httpx.AsyncClient(timeout=10, verify=False) as client,
                client.stream("POST", path, json=STREAM) as answer,
            ):
                text = ""
                async for line in answer.aiter_lines():
                    if "Hel" in line:
                        process.send_signal(signal.SIGTERM)
                        await asyncio.sleep(0.2)
                        if go_on:
                            service.go.set()
                    text += line + "\n"
            return text, await asyncio.to_thread(process.wait, 10)


async def test_a_stop_lets_streams_finish(static: Path) -> None:
    text, code = await stopped_while_streaming(static, ModelService(), "5", go_on=True)
    assert text.rstrip().endswith("data: [DONE]")
    assert code in (0, -signal.SIGTERM)


async def test_a_stop_ends_endless_streams_with_the_reason(static: Path) -> None:
    service = ModelService()
    text, code = await stopped_while_streaming(static, service, "0.3", go_on=False)
    assert '"code": "shutting_down"' in text and text.endswith("\n\n")
    assert code in (0, -signal.SIGTERM)
    assert service.cancelled.is_set()


async def test_a_stop_breaks_downloads_off(static: Path) -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + ZIP)
        await reader.read()

    async with raw_upstream(endless) as port:
        environment = {
            "PERSONAE_GRACE": "0.2",
            "PERSONAE_PROXY_PORTS": str(port),
            "PERSONAE_PROXY_NETWORKS": "127.0.0.0/8",
        }
        with personae(static, **environment) as (url, process):
            path = f"{url}proxy?url=http://127.0.0.1:{port}/"
            async with (
                httpx.AsyncClient(verify=False) as client,
                client.stream("GET", path) as answer,
            ):
                process.send_signal(signal.SIGTERM)
                with pytest.raises(httpx.RemoteProtocolError):
                    await answer.aread()
    assert "Traceback" not in (static.parent / "log").read_text()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def counted(metrics: str, line: str) -> float:
    return sum(float(each.split()[-1]) for each in metrics.splitlines() if each.startswith(line))


def children(pid: int) -> set[int]:
    """The worker processes: those spawned to serve, not multiprocessing's own tracker."""
    found = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return {child for child in found if b"spawn_main" in command_line(child)}


def command_line(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}healthz", timeout=1).status_code == 200
    except httpx.HTTPError:
        return False


def wait_until(condition: object, seconds: float = 15) -> None:
    assert callable(condition)
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_workers_share_port_and_metrics_and_are_replaced(static: Path) -> None:
    port = free_port()
    flags = ("--workers", "2", "--metrics-port", str(port), "--name", "Stage")
    with personae(static, *flags) as (url, process):
        wait_until(lambda: ready(url))
        for _ in range(20):
            assert httpx.get(f"{url}config.json").json()["name"] == "Stage"
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        line = 'personae_requests_total{method="GET",route="/config.json",status="200"}'
        assert counted(metrics, line) == 20
        before = children(process.pid)
        assert len(before) == 2
        os.kill(before.pop(), signal.SIGKILL)
        wait_until(lambda: len(children(process.pid) - before) == 1)
        wait_until(lambda: ready(url))
        metrics = httpx.get(f"http://127.0.0.1:{port}/metrics").text
        assert counted(metrics, line) == 20
    assert not ready(url)


def test_metrics_are_not_on_the_public_port(static: Path) -> None:
    port = free_port()
    with personae(static, "--metrics-port", str(port)) as (url, _):
        assert httpx.get(f"{url}metrics").status_code == 404
        assert "personae_request_seconds" in httpx.get(f"http://127.0.0.1:{port}/metrics").text


@pytest.mark.parametrize(
    ("trusted", "statuses"), [("127.0.0.1", [400, 400, 429]), ("10.0.0.0/8", [400, 429, 429])]
)
def test_forwarded_headers_count_from_trusted_proxies_only(
    static: Path, trusted: str, statuses: list[int]
) -> None:
    flags = ("--trusted-proxies", trusted, "--proxy-rate", "1/hour")
    with personae(static, *flags) as (url, _):
        forwarded = ("198.51.100.1", "198.51.100.2", "198.51.100.2")
        answers = [
            httpx.get(f"{url}proxy?url=ftp://a/", headers={"X-Forwarded-For": address})
            for address in forwarded
        ]
    assert [answer.status_code for answer in answers] == statuses


async def test_the_key_can_come_from_a_file(static: Path, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n")
    service = ModelService()
    async with serving(service.app) as upstream:
        environment = relay_to(upstream, PERSONAE_RELAY_KEY_FILE=str(tmp_path / "key"))
        del environment["PERSONAE_RELAY_KEY"]
        with personae(static, "--log", "json", **environment) as (url, _):
            async with httpx.AsyncClient(verify=False) as client:
                answer = await client.get(f"{url}v1/models")
    assert answer.status_code == 200
    assert service.headers[0]["authorization"] == f"Bearer {KEY}"
    log = (static.parent / "log").read_text()
    assert '"path": "/v1/models"' in log and KEY not in log
