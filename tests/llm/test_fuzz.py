"""Whatever a provider sends, the outcome is a Reply or a ModelError, and well-formed."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from personae.errors import ModelError
from personae.llm.stream.reply import Reply
from personae.llm.stream.response_body import ReplyBody

from tests.llm.fakes import sse

NAMES = [
    *("choices", "delta", "message", "content", "text", "type", "tool_calls", "function", "name"),
    *("arguments", "id", "index", "usage", "reasoning", "reasoning_content", "reasoning_details"),
    *("thinking", "finish_reason", "error", "code", "detail", "signature", "summary", "model"),
    *("object", "refusal", "data"),
]
WORDS = ["", " ", "a", "{}", '{"a":1}', "<think>", "</think>", "text", "thinking", "stop", "length"]
WORDS += ["\ud83c", "\udf19", "error", "reasoning.text", "[DONE]"]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)
    ),
    max_leaves=20,
)
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "index": ANY_JSON,
        "id": ANY_JSON,
        "function": st.fixed_dictionaries({}, optional={"name": ANY_JSON, "arguments": ANY_JSON}),
    },
)
DELTAS = st.fixed_dictionaries(
    {},
    optional={
        "content": ANY_JSON,
        "reasoning": ANY_JSON,
        "reasoning_details": ANY_JSON,
        "tool_calls": st.lists(CALLS | ANY_JSON, max_size=3),
    },
)
CHUNKS = ANY_JSON | st.builds(
    lambda name, delta, finish: {"choices": [{name: delta, "finish_reason": finish}]},
    st.sampled_from(["delta", "message"]),
    DELTAS | ANY_JSON,
    ANY_JSON,
)


def outcome(*pieces: bytes) -> Reply | ModelError:
    body = ReplyBody("https://here.example/v1", 200)
    try:
        for piece in pieces:
            for delta in body.feed(piece):
                repr(delta).encode()
        *_, last = body.finish()
    except ModelError as error:
        error.message.encode()
        return error
    assert isinstance(last, Reply)
    json.dumps(last.message(), ensure_ascii=False).encode()
    json.dumps([last.reasoning, dict(last.usage)], ensure_ascii=False).encode()
    ids = [call.id for call in (*last.tool_calls, *last.cut_calls)]
    assert len(set(ids)) == len(ids) and all(ids)
    return last


@given(st.lists(CHUNKS, max_size=5), st.booleans())
def test_any_chunks(chunks: list[Any], done: bool) -> None:
    outcome(sse(*chunks, done=done))


@given(CHUNKS)
def test_any_json_body(value: Any) -> None:
    outcome(json.dumps(value).encode())


@given(st.lists(st.binary(max_size=20), max_size=4))
def test_any_bytes(pieces: list[bytes]) -> None:
    outcome(*pieces)


def test_deep_nesting_wherever_it_stands() -> None:
    for depth in (150, 900, 50_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        delta = f'{{"reasoning_details":[{{"type":"x","y":{deep}}}]}}'
        for text in (
            deep,
            f'{{"choices":[],"usage":{deep}}}',
            f'{{"error":{deep}}}',
            f'{{"choices":[{{"delta":{delta}}}]}}',
        ):
            outcome(f"data: {text}\n\n".encode())
            outcome(text.encode())
