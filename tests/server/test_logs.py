"""What is logged and counted, and what never is."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

import pytest
from personae_server import metrics
from personae_server.logs import LineFormatter
from personae_server.settings import Settings

from tests.server.support import client_of

SECRET = "sk-operator-0123456789"


def record(message: str, **facts: object) -> logging.LogRecord:
    made = logging.LogRecord("personae_server.access", logging.INFO, "", 0, message, (), None)
    made.__dict__.update(facts)
    return made


def test_a_json_line_has_the_facts() -> None:
    line = LineFormatter("json", "").format(record("request", method="GET", path="/x", status=200))
    parsed = json.loads(line)
    assert parsed["message"] == "request" and parsed["level"] == "info"
    assert (parsed["method"], parsed["path"], parsed["status"]) == ("GET", "/x", 200)
    assert parsed["time"].endswith("+00:00")


@pytest.mark.parametrize("form", ["text", "json"])
def test_nothing_can_forge_a_line(form: str) -> None:
    line = LineFormatter(form, "").format(record("request", path="/a\n2026 error\x1b[2J\u2028"))
    assert len(line.splitlines()) == 1 and "\x1b" not in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_key_is_cut_out_of_tracebacks(form: str) -> None:
    made = record("request failed")
    try:
        raise RuntimeError(f"Bearer {SECRET}")
    except RuntimeError:
        made.exc_info = sys.exc_info()
    line = LineFormatter(form, SECRET).format(made)
    assert "RuntimeError" in line and SECRET not in line and "***" in line


async def test_queries_headers_and_bodies_are_not_logged(
    static: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "personae_server")
    async with client_of(Settings(static=static)) as client:
        await client.get("/proxy?url=http://10.0.0.1/private", headers={"Cookie": "id=secret"})
        await client.get("/?loadCharacter=http://private.example/")
    visits = [r for r in caplog.records if r.name == "personae_server.access"]
    assert [(v.path, v.status) for v in visits] == [("/proxy", 403), ("/", 200)]  # type: ignore[attr-defined]
    formatted = "".join(LineFormatter("json", "").format(r) for r in caplog.records)
    assert "private" not in formatted and "secret" not in formatted


async def test_a_crash_is_logged_with_its_traceback(
    static: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the reason")

    monkeypatch.setattr("personae_server.characters.Characters._entries", broken)
    async with client_of(Settings(static=static, characters=tmp_path)) as client:
        await client.get("/characters/")
    assert "the reason" in caplog.text


def count(route: str, method: str, status: str) -> float:
    return metrics.REQUESTS.labels(route, method, status)._value.get()


async def test_requests_are_counted_by_route_only(static: Path) -> None:
    before = count("static", "GET", "404"), count("/healthz", "GET", "200")
    errors = metrics.ERRORS.labels("/proxy", "url_missing")._value.get()
    async with client_of(Settings(static=static)) as client:
        await client.get("/a-path-of-the-client")
        await client.get("/healthz")
        await client.get("/proxy")
        await client.request("BREW", "/coffee")
    assert count("static", "GET", "404") == before[0] + 1
    assert count("/healthz", "GET", "200") == before[1] + 1
    assert metrics.ERRORS.labels("/proxy", "url_missing")._value.get() == errors + 1
    labels = {tuple(s.labels.values()) for m in metrics.REQUESTS.collect() for s in m.samples}
    assert not any("client" in value or value == "BREW" for values in labels for value in values)
