"""What the model service says of its inside and keeps about its visitors stays there."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import ModelError
from personae.llm.provider.quirks import learn
from personae_server.redaction import MAX_MESSAGE, Redactor

from tests.server.model_service import KEY
from tests.server.support import Handler, raw_upstream
from tests.server.test_relay import ask, relaying, relaying_raw, sending

HOST = "vllm.models.acme.example"
REDACTOR = Redactor(KEY, HOST)

TELLING = {
    "Cannot connect to host vllm-0:8000 ssl:default [Connect call failed ('10.0.0.9', 8000)]":
        ("vllm-0", "10.0.0.9"),
    "dial tcp: lookup litellm-db on 10.96.0.10:53: no such host": ("litellm-db", "10.96"),
    "dial tcp [fd00:10:244::7]:8000: connect: connection refused": ("fd00", "244::7"),
    "HTTPConnectionPool(host='vllm-0', port=8000): Max retries exceeded": ("vllm-0",),
    'connection to server at "fe80::1%eth0", port 5432 failed': ("fe80", "eth0"),
    "Error: ::1 refused, ::ffff:10.0.0.7 too; FE80:0:0:0:0:0:0:1.": ("::1", "10.0", "FE80", ":0:"),
    "gpu-07.dc2.corp is down, gpu.svc.cluster.local too": ("gpu-07", "dc2", "gpu.svc"),
    "backend ip-10-0-3-7.ec2.internal, node01.rack.acme.de": ("ip-10", "node01", "acme"),
    f"{HOST} is busy, db.models.acme.example as well": ("acme", "db.models"),
    "Failed to resolve 'litellm' ([Errno -2] Name or service not known)": ("litellm",),
    "redis://:pw@cache:6379/0 timed out; amqp at mq-1:5672": ("pw", "cache", "mq-1"),
    "see http://admin@inner/health?token=abc, then postgres://u:p@db/x": ("inner", "abc", "u:p"),
    "localhost:11434 refused": ("localhost", "11434"),
    "request to gpu3 failed; connection to db1 lost": ("gpu3", "db1"),
    f"Bad key {KEY}; Bearer abcdefgh.ijkl; sk-other-123456789": (KEY, "abcdefgh", "sk-other"),
    "It broke. Traceback (most recent call last): File /srv/app.py": ("/srv", "Traceback"),
}  # fmt: skip


@pytest.mark.parametrize(("said", "hidden"), TELLING.items())
def test_no_place_and_no_key_is_left(said: str, hidden: tuple[str, ...]) -> None:
    text = REDACTOR.text(said)
    assert not [part for part in hidden if part in text]


@pytest.mark.parametrize(
    "said",
    [
        "messages.1.isFile: Extra inputs are not permitted",
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "tools.0.function.name: String should match pattern '^[a-zA-Z0-9_-]+$'",
        "Invalid value at 'messages[3].content[0].type': std::string expected at 12:30:45",
        "Conversation roles must alternate user/assistant/user/assistant/...",
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29999, "
        "Requested 500. Please try again in 1.2s.",
        "This model's maximum context length is 8192 tokens, however you requested 9000.",
        "model qwen3:8b is not loaded; temperature 3.5 is over 2; connection to the model failed",
    ],
)
def test_what_clients_act_on_stays(said: str) -> None:
    assert REDACTOR.text(said) == said


def test_the_players_own_client_still_learns_from_it() -> None:
    words = REDACTOR.error({"message": "isFile is not permitted (http://10.0.0.9/docs)"})
    body = {"messages": [{"role": "user", "content": "a", "isFile": True}]}
    assert learn(ModelError("x", "x", status=400, provider=words), body) == "drop:isFile"


SENTENCES = st.sampled_from(
    [
        "connect to {} failed",
        "({})",
        "host={}",
        "'{}'",
        "[{}]:8000 refused",
        "at {}.",
        "{}: no",
        "{}",
    ]
)
addresses = st.one_of(
    st.ip_addresses(v=4).map(str),
    st.ip_addresses(v=6).flatmap(
        lambda address: st.sampled_from(
            [str(address), address.exploded, str(address).upper(), f"{address}%eth0"]
        )
    ),
    st.ip_addresses(v=4).map(lambda address: f"::ffff:{address}"),
)


@settings(deadline=None)
@given(SENTENCES, addresses)
def test_an_address_in_any_spelling_is_hidden(sentence: str, address: str) -> None:
    text = REDACTOR.text(sentence.format(address))
    assert address not in text
    # Nor is a piece of it left that tells it.
    plain = ipaddress.ip_address(address.partition("%")[0])
    assert not any(group in text for group in str(plain).split(":") if len(group) > 4)


@settings(deadline=None)
@given(st.text(max_size=300) | st.text("a.:1-[]%/=@' ", max_size=300))
def test_any_text_is_taken(text: str) -> None:
    assert len(REDACTOR.text(text)) <= MAX_MESSAGE


@pytest.mark.parametrize(
    "piece", ["a.", "a:", ":", "a-", "[::", "1.", "connect to ", "x://", "com."]
)
def test_long_texts_take_no_time(piece: str) -> None:
    started = time.process_time()
    REDACTOR.text(piece * 30_000)
    assert time.process_time() - started < 0.5


def refusing(status: str, error: Any) -> Handler:
    body = json.dumps({"error": error}).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return sending(head.encode(), body)


INSIDE = "Cannot connect to host vllm-0:8000 at [fd00::7]:8000 (10.0.0.9), db.acme.internal"
SECRETS = ("vllm-0", "fd00", "10.0.0.9", "acme")


@pytest.mark.parametrize("status", ["400 Bad Request", "500 Oops", "502 Bad Gateway"])
@pytest.mark.parametrize("error", [INSIDE, {"message": INSIDE, "code": "vllm-0:8000"}])
async def test_a_refusal_shows_nothing_of_the_inside(static: Path, status: str, error: Any) -> None:
    async with relaying_raw(static, refusing(status, error)) as client:
        answer = await ask(client)
    assert answer.status_code == int(status[:3])
    assert not [secret for secret in SECRETS if secret in answer.text]


@pytest.mark.parametrize(
    "event",
    [
        json.dumps({"error": {"message": INSIDE, "metadata": {"raw": INSIDE}}}),
        json.dumps({"error": INSIDE}),
        json.dumps([{"error": {"message": INSIDE}}]),
        json.dumps({"choices": [{"index": 0, "error": {"message": INSIDE}}]}),
        f"upstream failed: {INSIDE}",
    ],
)
async def test_an_error_in_a_stream_shows_nothing_of_the_inside(static: Path, event: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close"
    async with relaying_raw(static, sending(head, f"data: {event}\n\n".encode())) as client:
        answer = await ask(client, stream=True)
    assert answer.text.startswith("data: ") and "***" in answer.text
    assert not [secret for secret in SECRETS if secret in answer.text]


async def test_an_error_in_a_whole_answer_shows_nothing_of_the_inside(static: Path) -> None:
    async with relaying_raw(static, refusing("200 OK", {"message": INSIDE})) as client:
        answer = await ask(client)
    assert "***" in answer.json()["error"]["message"]
    assert not [secret for secret in SECRETS if secret in answer.text]


async def test_what_the_model_itself_says_is_not_touched(static: Path) -> None:
    content = {"choices": [{"message": {"content": INSIDE}}], "error": None}
    body = json.dumps(content).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close"
    async with relaying_raw(static, sending(head, body)) as client:
        assert (await ask(client)).content == body


async def test_the_list_of_models_tells_names_alone(static: Path) -> None:
    listed = {"data": [{"id": "good", "root": "/models/good", "api_base": "http://vllm-0:8000"}]}
    body = json.dumps(listed).encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close"
    async with relaying_raw(static, sending(head, body)) as client:
        answer = await client.get("/v1/models")
    assert [model["id"] for model in answer.json()["data"]] == ["good"]
    assert "vllm-0" not in answer.text and "/models/good" not in answer.text


async def test_no_cookie_of_the_service_is_kept_or_passed_on(static: Path) -> None:
    requests: list[bytes] = []

    async def setting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
            b'Set-Cookie: session=ann; Path=/\r\n\r\n{"choices": []}'
        )
        await writer.drain()

    async with (
        raw_upstream(setting) as port,
        relaying(static, f"http://127.0.0.1:{port}/v1") as client,
    ):
        answers = [await ask(client), await ask(client), await client.get("/v1/models")]
    assert len(requests) == 3
    assert not [request for request in requests if b"cookie" in request.lower()]
    assert not [answer for answer in answers if "set-cookie" in answer.headers]
