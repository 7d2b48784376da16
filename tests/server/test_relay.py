"""The relay: the official client against it, what it hides, what it counts, who may use it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from personae.errors import UsageError
from personae_server import relay, relay_body
from personae_server.app import create_app
from personae_server.settings import Settings
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from tests.server.model_service import KEY, ModelService
from tests.server.recipes import recipes
from tests.server.support import Handler, code_of, raw_upstream, serving

MODELS = ("good", "tools", "slow", "silent", "breaks", "html", "no-json", "no-usage")
HELLO = {"model": "good", "messages": [{"role": "user", "content": "Hi"}]}


@asynccontextmanager
async def relaying(
    static: Path, upstream: str, **settings: Any
) -> AsyncIterator[httpx.AsyncClient]:
    options = {"relay_models": MODELS, "relay_key": KEY, **settings}
    app = create_app(Settings(static=static, relay_url=upstream, **options))
    async with serving(app) as base, httpx.AsyncClient(base_url=base, verify=False) as client:
        yield client


@asynccontextmanager
async def relayed(
    static: Path, **settings: Any
) -> AsyncIterator[tuple[ModelService, httpx.AsyncClient]]:
    """A model service and a client of the relay in front of it."""
    service = ModelService()
    async with (
        serving(service.app) as upstream,
        relaying(static, f"{upstream}/v1", **settings) as client,
    ):
        yield service, client


def official(client: httpx.AsyncClient) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key="visitor", base_url=str(client.base_url.join("/v1")), max_retries=0, timeout=10
    )


async def ask(client: httpx.AsyncClient, model: str = "good", **more: Any) -> httpx.Response:
    return await client.post("/v1/chat/completions", json={**HELLO, "model": model, **more})


async def test_the_official_client_gets_a_reply(static: Path) -> None:
    async with relayed(static) as (service, client), official(client) as ours:
        reply = await ours.chat.completions.create(**HELLO)
        models = [model.id async for model in ours.models.list()]
    assert reply.choices[0].message.content == "Hello there"
    assert reply.usage and reply.usage.total_tokens == 16
    assert models == ["good", "tools"]
    assert service.requests[0] == HELLO


async def test_the_official_client_streams(static: Path) -> None:
    async with relayed(static) as (_, client), official(client) as ours:
        stream = await ours.chat.completions.create(**HELLO, stream=True)
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello there"


async def test_the_official_client_streams_tool_calls_and_usage(static: Path) -> None:
    tool = {"type": "function", "function": {"name": "roll", "parameters": {"type": "object"}}}
    async with relayed(static) as (service, client), official(client) as ours:
        stream = await ours.chat.completions.create(
            **{**HELLO, "model": "tools"}, tools=[tool], stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        chunks = [chunk async for chunk in stream]
    calls = chunks[0].choices[0].delta.tool_calls
    assert calls and calls[0].function and calls[0].function.arguments == '{"sides": 20}'
    assert chunks[-1].usage and chunks[-1].usage.total_tokens == 16
    assert service.requests[0]["tools"] == [tool]


async def test_events_pass_the_moment_they_come(static: Path) -> None:
    async with relayed(static) as (service, client):
        body = {**HELLO, "model": "slow", "stream": True}
        async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
            lines = answer.aiter_lines()
            seen = ""
            async with asyncio.timeout(5):
                while "Hel" not in seen:
                    seen = await anext(lines)
            assert not service.go.is_set()
            service.go.set()
            rest = [line async for line in lines]
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    assert rest[-2] == "data: [DONE]" or rest[-1] == "data: [DONE]"


async def test_a_service_that_does_not_tell_usage_is_asked_without(static: Path) -> None:
    async with relayed(static) as (service, client):
        answer = await ask(client, "no-usage", stream=True)
        wanted = await ask(client, "no-usage", stream=True, stream_options={"include_usage": True})
    assert answer.status_code == 200 and "Hel" in answer.text
    assert ["stream_options" in asked for asked in service.requests] == [True, False, True]
    # Who asked for it hears that it cannot be had, in the service's own words.
    error = wanted.json()["error"]
    assert wanted.status_code == 400
    assert (error["type"], error["param"]) == ("invalid", "x")
    assert "stream_options" in error["message"]


@pytest.mark.parametrize("shape", ["{}", "[{}]", "[{}, 1]"])
async def test_a_refusal_keeps_its_words_whatever_holds_them(static: Path, shape: str) -> None:
    told = b'{"error": {"code": 400, "message": "A thought is missing", "param": "messages"}}'
    body = shape.encode().replace(b"{}", told)
    head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d" % len(body)
    async with relaying_raw(static, sending(head, body)) as client:
        answer = await ask(client)
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": "400",
        "message": "A thought is missing",
        "param": "messages",
    }


async def test_a_list_of_models_that_failed_is_asked_for_again(static: Path) -> None:
    async with relayed(static) as (service, client):
        service.lists_models = False
        first = (await client.get("/v1/models")).json()["data"]
        service.lists_models = True
        again = (await client.get("/v1/models")).json()["data"]
    assert [model["id"] for model in first] == [*MODELS]
    assert [model["id"] for model in again] == ["good", "tools"]


async def test_one_model_and_what_is_not_relayed(static: Path) -> None:
    async with relayed(static) as (_, client):
        known = await client.get("/v1/models/good")
        unknown = await client.get("/v1/models/secret-model")
        others = [await client.post(f"/v1/{path}", json={}) for path in ("embeddings", "x/y")]
    assert known.json()["id"] == "good"
    assert (unknown.status_code, code_of(unknown)) == (404, "model_not_found")
    assert {(other.status_code, code_of(other)) for other in others} == {(404, "not_relayed")}


async def test_usage_is_asked_for_but_passed_on_only_when_wanted(static: Path) -> None:
    async with relayed(static) as (service, client):
        plain = await ask(client, stream=True)
        wanted = await ask(client, stream=True, stream_options={"include_usage": True})
    assert all(r["stream_options"] == {"include_usage": True} for r in service.requests)
    assert "prompt_tokens" not in plain.text
    assert "prompt_tokens" in wanted.text


async def test_the_key_goes_upstream_and_nothing_of_the_client_does(static: Path) -> None:
    async with relayed(static) as (service, client):
        headers = {"Authorization": "Bearer visitor", "Cookie": "a=b", "X-Private": "1"}
        await client.post("/v1/chat/completions", json=HELLO, headers=headers)
    sent = service.headers[0]
    assert sent["authorization"] == f"Bearer {KEY}"
    assert not {"cookie", "x-private"} & set(sent)


@pytest.mark.parametrize(
    ("leave", "model"),
    [("stream", "slow"), ("reply", "silent")],
)
async def test_a_client_that_leaves_ends_the_request_upstream(
    static: Path, leave: str, model: str
) -> None:
    async with relayed(static) as (service, client):
        task = asyncio.create_task(ask(client, model, stream=leave == "stream"))
        async with asyncio.timeout(5):
            await service.waiting.wait()
            task.cancel()
            await service.cancelled.wait()
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_a_refusal_is_passed_on_without_secrets(static: Path, status: int) -> None:
    model = f"status-{status}"
    async with relayed(static, relay_models=(model,)) as (_, client):
        answer = await ask(client, model)
    assert (answer.status_code, code_of(answer)) == (status, "odd_request")
    assert answer.headers["retry-after"] == "7"
    for secret in (KEY, "10.0.0.9", "Traceback"):
        assert secret not in answer.text
    # From 501 on a service speaks of its own inside.
    assert ("Bad key" in answer.text) == (status <= 500)


@pytest.mark.parametrize("status", [401, 402, 403])
async def test_refused_credentials_are_the_operators_business(
    static: Path, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    model = f"status-{status}"
    async with relayed(static, relay_models=("*",)) as (_, client):
        answer = await ask(client, model)
    assert (answer.status_code, code_of(answer)) == (502, "relay_refused")
    assert "Bad key" not in answer.text
    assert str(status) in caplog.text and KEY not in caplog.text


@pytest.mark.parametrize(
    ("model", "status", "code"),
    [("html", 503, "upstream_status"), ("no-json", 502, "upstream_failed")],
)
async def test_what_is_no_model_service_is_named(
    static: Path, model: str, status: int, code: str
) -> None:
    async with relayed(static) as (_, client):
        answer = await ask(client, model)
    assert (answer.status_code, code_of(answer)) == (status, code)
    assert "<h1>" not in answer.text


async def test_a_stream_that_breaks_ends_with_the_reason(static: Path) -> None:
    async with relayed(static) as (_, client), official(client) as ours:
        stream = await ours.chat.completions.create(**{**HELLO, "model": "breaks"}, stream=True)
        with pytest.raises(openai.APIError, match="connection to the model service"):
            async for _ in stream:
                pass


async def test_a_service_that_is_not_there(static: Path) -> None:
    async with raw_upstream(lambda r, w: asyncio.sleep(0)) as port:
        pass
    async with relaying(static, f"http://127.0.0.1:{port}/v1") as client:
        answer = await ask(client)
        models = await client.get("/v1/models")
    assert (answer.status_code, code_of(answer)) == (502, "upstream_failed")
    assert str(port) not in answer.text
    assert [model["id"] for model in models.json()["data"]] == list(MODELS)


async def test_a_silent_service_times_out(static: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "SILENT_SECONDS", 0.2)
    async with relayed(static) as (_, client):
        answer = await ask(client, "silent")
        stalled = await ask(client, "slow", stream=True)
    assert (answer.status_code, code_of(answer)) == (504, "upstream_timeout")
    assert '"upstream_timeout"' in stalled.text


def sending(head: bytes, *parts: bytes) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n")
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0.01)

    return handle


@asynccontextmanager
async def relaying_raw(static: Path, handler: Handler) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        raw_upstream(handler) as port,
        relaying(static, f"http://127.0.0.1:{port}/v1") as client,
    ):
        yield client


@pytest.mark.parametrize(
    "parts",
    [
        (b"data: {}\r", b"\n\r\ndata: [DO", b"NE]\r\n\r\n"),
        (b"data: {}\r", b"\rdata: [DONE]\r\r"),
        (b"data: {}\n", b"\ndata: [DONE]\n\n"),
        (b"data: null\n\ndata: [1]\n\ndata: {\n\ndata: \xff\n\n", b"data: [DONE]"),
    ],
)
async def test_odd_events_pass_as_they_are(static: Path, parts: tuple[bytes, ...]) -> None:
    handler = sending(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream", *parts)
    async with relaying_raw(static, handler) as client:
        answer = await ask(client, stream=True)
    assert answer.content == b"".join(parts)


async def test_a_key_in_a_stream_is_cut_out(static: Path) -> None:
    told = f'data: {{"error": {{"message": "bad {KEY}"}}}}\n\n'.encode()
    handler = sending(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream", told[:30], told[30:])
    async with relaying_raw(static, handler) as client:
        answer = await ask(client, stream=True)
    assert KEY not in answer.text and "bad ***" in answer.text


async def test_a_lying_length_is_a_failure(static: Path) -> None:
    handler = sending(b"HTTP/1.1 200 OK\r\nContent-Length: 500", b'{"choices": []}')
    async with relaying_raw(static, handler) as client:
        answer = await ask(client)
    assert (answer.status_code, code_of(answer)) == (502, "upstream_failed")


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{}", "application/json", 403, "model_not_allowed"),
        (b'{"model": "gpt"}', "application/json", 403, "model_not_allowed"),
        (b'{"model": ["good"]}', "application/json", 403, "model_not_allowed"),
        (b"[]", "application/json", 400, "request_invalid"),
        (b"{", "application/json; charset=utf-8", 400, "request_invalid"),
        (b"\xff\xfe", "application/json", 400, "request_invalid"),
        (b"[" * 200_000, "application/json", 400, "request_invalid"),
        (b'{"model": "good"}', "text/plain", 415, "request_type"),
        (b" " * (relay_body.MAX_BODY + 1), "application/json", 413, "request_too_large"),
    ],
)
async def test_bad_requests_reach_no_model(
    static: Path, content: bytes, kind: str, status: int, code: str
) -> None:
    async with relayed(static) as (service, client):
        headers = {"Content-Type": kind}
        answer = await client.post("/v1/chat/completions", content=content, headers=headers)
    assert (answer.status_code, code_of(answer)) == (status, code)
    assert service.requests == []


async def test_other_sites_may_not_use_it(static: Path) -> None:
    async with relayed(static) as (_, client):
        headers = {"Sec-Fetch-Site": "cross-site"}
        answer = await client.post("/v1/chat/completions", json=HELLO, headers=headers)
        preflight = await client.options("/v1/chat/completions", headers=headers)
    assert code_of(answer) == "cross_site"
    assert preflight.status_code == 405
    assert "access-control-allow-origin" not in preflight.headers


async def test_requests_are_limited_per_client(static: Path) -> None:
    async with relayed(static, relay_rate="2/hour") as (_, client):
        codes = [(await ask(client)).status_code for _ in range(3)]
        refused = await ask(client)
    assert codes == [200, 200, 429]
    assert code_of(refused) == "rate_limited"
    assert 0 < int(refused.headers["retry-after"]) <= 7200


async def test_streams_at_once_are_limited(static: Path) -> None:
    async with relayed(static, relay_streams=1) as (service, client):
        task = asyncio.create_task(ask(client, "slow", stream=True))
        async with asyncio.timeout(5):
            await service.waiting.wait()
        second = await ask(client)
        service.go.set()
        await task
        third = await ask(client)
    assert (second.status_code, code_of(second)) == (429, "too_many_streams")
    assert third.status_code == 200


async def company_sign_in(scope: Scope, receive: Receive, send: Send) -> None:
    """Names whoever shows a badge; sends the others away; breaks on request."""
    badge = dict(scope["headers"]).get(b"x-badge", b"").decode()
    if badge == "broken":
        raise RuntimeError(f"directory at 10.0.0.5 refused {KEY}")
    if badge == "nameless":
        return
    if badge:
        scope["user"] = badge
        return
    await PlainTextResponse("Sign in first", 401, {"WWW-Authenticate": "Badge"})(
        scope, receive, send
    )


SIGN_IN = "tests.server.test_relay:company_sign_in"


async def test_the_sign_in_decides_who_may_use_it(static: Path) -> None:
    async with relayed(static, relay_sign_in=SIGN_IN, relay_rate="1/hour") as (service, client):

        async def by(badge: str) -> httpx.Response:
            headers = {"X-Badge": badge} if badge else {}
            return await client.post("/v1/chat/completions", json=HELLO, headers=headers)

        stranger, ann, ann_again, bob = (
            await by(""),
            await by("ann"),
            await by("ann"),
            await by("bob"),
        )
        nameless, broken = await by("nameless"), await by("broken")
        models = await client.get("/v1/models")
    assert (stranger.status_code, stranger.text) == (401, "Sign in first")
    assert stranger.headers["www-authenticate"] == "Badge"
    assert [r.status_code for r in (ann, ann_again, bob)] == [200, 429, 200]
    assert (nameless.status_code, code_of(nameless)) == (401, "sign_in_needed")
    assert (broken.status_code, code_of(broken)) == (500, "internal_error")
    assert models.status_code == 401
    assert len(service.requests) == 2


async def test_the_documented_sign_in_works(
    static: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "company.py").write_text(recipes("python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    async with relayed(static, relay_sign_in="company:sign_in") as (_, client):
        stranger = await ask(client)
        headers = {"X-Auth-Request-User": "ann"}
        ann = await client.post("/v1/chat/completions", json=HELLO, headers=headers)
    assert (stranger.status_code, code_of(stranger)) == (401, "sign_in_needed")
    assert ann.status_code == 200


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"relay_models": ()}, "setting_missing"),
        ({"relay_models": ("*",), "relay_sign_in": "nowhere:hook"}, "sign_in_missing"),
        ({"relay_models": ("*",), "rate_store": "nonsense://"}, "rate_store"),
    ],
)
def test_a_relay_that_cannot_work_does_not_start(
    static: Path, settings: dict[str, Any], code: str
) -> None:
    with pytest.raises(UsageError) as caught:
        create_app(Settings(static=static, relay_url="http://model.test/v1", **settings))
    assert caught.value.code == code


async def test_the_key_is_in_no_log(static: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "personae_server")
    async with relayed(static, relay_models=("*",)) as (_, client):
        for model in ("good", "status-401", "status-400", "breaks", "html"):
            await ask(client, model, stream=True)
    assert caplog.records
    assert KEY not in caplog.text and "messages" not in caplog.text
