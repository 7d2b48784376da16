"""What of a request the relay forwards: known fields within their bounds, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.errors import UsageError
from personae.llm.request.body import (
    Sampling,
    build_body,
    file_message,
    system_message,
    user_message,
)
from personae.package.model import ToolDefinition
from personae_server.chat_fields import LENGTHS, TABLE, asked_tokens, chat_fields, table_rows
from personae_server.errors import HttpError

from tests.server.recipes import HOSTING
from tests.server.support import code_of
from tests.server.test_relay import HELLO, ask, official, relayed

OTHER_MODELS = {
    "models": ["dear-1", "dear-2"],
    "fallbacks": [{"good": ["dear"]}],
    "context_window_fallbacks": [],
    "route": "fallback",
    "provider": {"order": ["dear"]},
    "plugins": [{"id": "web"}],
    "transforms": [],
    "preset": "dear",
}
OTHER_ADDRESSES = {
    "api_base": "http://127.0.0.1:1/",
    "base_url": "http://127.0.0.1:1/",
    "api_key": "x",
    "user_config": {"model_list": []},
    "extra_headers": {"X": "y"},
    "custom_llm_provider": "x",
    "web_search_options": {},
    "audio": {"voice": "a"},
}
OTHER_PRICES = {
    "service_tier": "priority",
    "store": True,
    "metadata": {"user": "ann"},
    "user": "ann",
    "best_of": 9,
    "prompt_cache_retention": "24h",
    "": 1,
    "__proto__": {},
    "Model": "dear",
}


@pytest.mark.parametrize(
    ("name", "value"), [*OTHER_MODELS.items(), *OTHER_ADDRESSES.items(), *OTHER_PRICES.items()]
)
async def test_a_field_that_is_not_in_the_table_reaches_no_model(
    static: Path, name: str, value: Any
) -> None:
    async with relayed(static) as (service, client):
        answer = await ask(client, **{name: value})
    assert (answer.status_code, code_of(answer)) == (400, "field_not_forwarded")
    assert service.requests == []


URL = "http://127.0.0.1:1/a.png"


def saying(part: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [part]}]}


def tool(**more: Any) -> dict[str, Any]:
    return {"tools": [{"type": "function", "function": {"name": "roll", **more}}]}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"n": 5}, "field_invalid"),
        ({"n": 0}, "field_invalid"),
        ({"n": True}, "field_invalid"),
        ({"n": 1.5}, "field_invalid"),
        ({"max_tokens": 131_073}, "field_invalid"),
        ({"max_completion_tokens": 10**400}, "field_invalid"),
        ({"max_tokens": "12"}, "field_invalid"),
        ({"temperature": -0.1}, "field_invalid"),
        ({"stream": "yes"}, "field_invalid"),
        ({"stop": ["x"] * 17}, "field_invalid"),
        ({"logit_bias": {"1": 101}}, "field_invalid"),
        ({"tool_choice": {"type": "mcp"}}, "field_invalid"),
        ({"tools": [{"type": "web_search"}]}, "field_invalid"),
        ({"tools": [{"type": "mcp", "server_url": URL}]}, "field_invalid"),
        ({"tools": tool()["tools"] * 129}, "field_invalid"),
        (tool(description="x" * 256 * 1024), "field_invalid"),
        (tool(parameters={"properties": {"a": {"$ref": URL}}}), "field_invalid"),
        (tool(parameters={"properties": {"a": {"$id": URL, "$ref": "#/b"}}}), "field_invalid"),
        (tool(parameters={"id": f" {URL}", "$ref": "#/b"}), "field_invalid"),
        (tool(parameters={"$id": "//inner.example/x"}), "field_invalid"),
        (tool(server_url=URL), "field_not_forwarded"),
        ({"response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": URL}}}},
         "field_invalid"),
        (saying({"type": "image_url", "image_url": {"url": URL}}), "field_invalid"),
        (saying({"type": "image_url", "image_url": URL}), "field_invalid"),
        (saying({"type": "video_url", "video_url": {"url": URL}}), "field_invalid"),
        (saying({"type": "file", "file": {"file_id": "file-1"}}), "field_not_forwarded"),
        (saying({"type": "text", "text": "a", "cache_control": {}}), "field_not_forwarded"),
        ({"messages": [{"role": "user", "content": "a", "model": "dear"}]}, "field_not_forwarded"),
        ({"messages": "hello"}, "field_invalid"),
        ({"stream_options": {"include_usage": True, "model": "x"}}, "field_not_forwarded"),
    ],
)  # fmt: skip
async def test_what_is_out_of_bounds_reaches_no_model(
    static: Path, more: dict[str, Any], code: str
) -> None:
    async with relayed(static) as (service, client):
        answer = await ask(client, **more)
    assert (answer.status_code, code_of(answer)) == (400, code)
    assert next(iter(more)) in answer.json()["error"]["message"]
    assert service.requests == []


@pytest.mark.parametrize("content", [b"NaN", b"1e999", b"[" * 100_000 + b"]" * 100_000])
async def test_numbers_that_are_none_and_deep_nesting_are_refused(
    static: Path, content: bytes
) -> None:
    calls = b'{"model": "good", "messages": [{"role": "assistant", "tool_calls": [%s]}]}' % content
    async with relayed(static) as (service, client):
        headers = {"Content-Type": "application/json"}
        answer = await client.post("/v1/chat/completions", content=calls, headers=headers)
    assert (answer.status_code, code_of(answer)) == (400, "request_invalid")
    assert service.requests == []


FULL = {
    "temperature": 0.7, "top_p": 1, "n": 2, "max_tokens": 131_072, "seed": -3, "stop": ["a", "b"],
    "presence_penalty": -2, "frequency_penalty": 0.5, "logit_bias": {"50256": -100},
    "logprobs": True, "top_logprobs": 3, "parallel_tool_calls": False, "reasoning_effort": "low",
    "verbosity": "low", "tool_choice": {"type": "function", "function": {"name": "roll"}},
    "response_format": {"type": "json_schema", "json_schema": {
        "name": "a", "schema": {"$defs": {"b": {}}, "$ref": "#/$defs/b"}, "strict": True}},
    **tool(description="d", strict=None, parameters={
        "type": "object", "$id": "#a", "properties": {"$ref": {}, "id": {"const": URL}}}),
    "messages": [
        {"role": "developer", "content": "d", "name": "n"},
        {"role": "user", "content": [
            {"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "data:image/png,A", "detail": "low"}},
            {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}},
            {"type": "file", "file": {"file_data": "data:application/pdf;base64,AA"}}]},
        {"role": "assistant", "content": None, "reasoning_content": "r", "reasoning_details": [{}],
         "tool_calls": [{"id": "1", "type": "function", "extra_content": {"signature": "s"},
                         "function": {"name": "roll", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "5"},
    ],
}  # fmt: skip


async def test_everything_in_the_table_passes_as_it_came(static: Path) -> None:
    async with relayed(static) as (service, client), official(client) as ours:
        await ours.chat.completions.create(**{**HELLO, **FULL})
    assert service.requests == [{**HELLO, **FULL}]


async def test_null_is_no_field(static: Path) -> None:
    nulls = {"route": None, "max_tokens": None}
    message = {"role": "user", "content": None, "function_call": None}
    async with relayed(static) as (service, client):
        assert (await ask(client, **nulls, messages=[message])).status_code == 200
    sent = service.requests[0]
    assert "route" not in sent and sent["max_tokens"] is None
    assert sent["messages"] == [{"role": "user", "content": None}]


async def test_what_the_player_sends_passes(static: Path) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "roll", "arguments": "{}"}}
    messages = [
        system_message("You are Wren."),
        file_message("Background."),
        user_message("Hi"),
        {"role": "assistant", "content": "", "reasoning": "hm", "tool_calls": [call]},
    ]
    roll = ToolDefinition(
        "roll", "Rolls.", {"type": "object", "properties": {"sides": {"type": "integer"}}}
    )
    sampling = Sampling(0.5, 0.9, 4000)
    body = build_body(messages, tools=[roll], sampling=sampling, tool_choice="auto")
    async with relayed(static) as (service, client):
        answer = await client.post("/v1/chat/completions", json={"model": "good", **body})
    assert answer.status_code == 200
    assert service.requests == [{"model": "good", **body}]
    assert service.requests[0]["messages"][1]["isFile"] is True


async def test_the_operator_adds_fields_and_sets_bounds(static: Path) -> None:
    changes = ("top_k", "n=1", "min_p=0.5", "tools")
    async with relayed(static, relay_fields=changes) as (service, client):
        hosted = [{"type": "web_search"}]
        passed = await ask(client, n=1, top_k={"any": 1}, min_p=0.5, tools=hosted)
        answers = [await ask(client, **more) for more in ({"n": 2}, {"min_p": 0.6}, {"top": 1})]
    assert passed.status_code == 200
    assert service.requests == [
        {**HELLO, "n": 1, "top_k": {"any": 1}, "min_p": 0.5, "tools": hosted}
    ]
    assert [code_of(each) for each in answers] == [
        "field_invalid", "field_invalid", "field_not_forwarded"
    ]  # fmt: skip


@pytest.mark.parametrize("name", LENGTHS)
def test_a_bound_of_the_answers_length_holds_under_both_names(name: str) -> None:
    fields = chat_fields([f"{name}=4096"])
    for other in LENGTHS:
        assert fields.clean({other: 4096}, "") == {other: 4096}
        with pytest.raises(HttpError):
            fields.clean({other: 4097}, "")


def test_each_of_the_two_names_can_have_its_own_bound() -> None:
    fields = chat_fields(["max_completion_tokens=9000", "max_tokens=10"])
    sent = {"max_tokens": 10, "max_completion_tokens": 9000}
    assert fields.clean(sent, "") == sent
    with pytest.raises(HttpError):
        fields.clean({"max_tokens": 11}, "")


@pytest.mark.parametrize("change", ["n=x", "n=0", "n=inf", "n=nan", "tools=5", "n="])
def test_a_bound_that_is_none_is_named(change: str) -> None:
    with pytest.raises(UsageError, match="relay_fields has") as caught:
        chat_fields([change])
    assert caught.value.code == "setting_invalid"


def test_an_added_field_does_not_open_the_list_of_models() -> None:
    assert chat_fields(["model"]).clean({"model": "x"}, "") == {"model": "x"}


async def test_the_list_of_models_holds_whatever_is_added(static: Path) -> None:
    async with relayed(static, relay_fields=("model",)) as (service, client):
        assert code_of(await ask(client, "dear")) == "model_not_allowed"
    assert service.requests == []


def test_the_documentation_prints_the_table() -> None:
    assert table_rows() in HOSTING.read_text("utf-8")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from([*TABLE, *OTHER_MODELS]) | st.text(max_size=9), values))
def test_nothing_but_the_tables_fields_comes_through(body: dict[str, Any]) -> None:
    try:
        cleaned = chat_fields().clean(body, "")
    except HttpError as error:
        assert (error.status, error.code) in (
            (400, "field_invalid"), (400, "field_not_forwarded"), (400, "request_invalid")
        )  # fmt: skip
        return
    assert set(cleaned) <= set(TABLE)
    assert all(body[name] == value for name, value in cleaned.items())
    json.dumps(cleaned, allow_nan=False)


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({}, None),
        ({"n": 3}, None),
        ({"max_tokens": 10, "n": 3}, 30),
        ({"max_tokens": 10, "max_completion_tokens": 7}, 10),
        ({"max_tokens": 1, "max_completion_tokens": 90_000}, 90_000),
        ({"max_tokens": 10, "n": 3.0}, 30),
        ({"max_tokens": 10.0}, 10),
        ({"max_tokens": None, "max_completion_tokens": 7}, 7),
    ],
)
def test_how_long_an_answer_may_be(body: dict[str, Any], tokens: int | None) -> None:
    assert asked_tokens(body) == tokens
