"""Replies that are not whole, in every provider's words; and those that say nothing."""

from __future__ import annotations

import json

import pytest
from personae.errors import ModelError
from personae.llm.stream.reply import Reply
from personae.llm.stream.response_body import ReplyBody

from tests.llm.fakes import chunk, sse


def read(data: bytes) -> Reply:
    body = ReplyBody("https://here.example", 200)
    list(body.feed(data))
    *_, reply = body.finish()
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.parametrize(
    ("reason", "cut"),
    [
        *((reason, "length") for reason in ("length", "LENGTH", "MAX_TOKENS", "max_tokens")),
        *((reason, "length") for reason in ("model_length", "max_output_tokens", "max-tokens")),
        *((reason, "length") for reason in ("FinishReason.MAX_TOKENS", "FINISH_REASON_MAX_TOKENS")),
        *((reason, "filter") for reason in ("content_filter", "SAFETY", "RECITATION", "refusal")),
        *((reason, "end") for reason in ("error", "network_error", "abort")),
        *((reason, None) for reason in ("stop", "STOP", "eos", "end_turn", "eos_token", "other")),
    ],
)
def test_why_a_reply_ended(reason: str, cut: str | None) -> None:
    assert read(sse(chunk({"content": "Hi"}), chunk(finish=reason))).cut == cut
    choice = {"message": {"content": "Hi"}, "finish_reason": reason}
    assert read(json.dumps({"choices": [choice]}).encode()).cut == cut


def test_a_stream_without_a_mark_of_its_end_is_cut() -> None:
    assert read(sse(chunk({"content": "more and"}), done=False)).cut == "end"


@pytest.mark.parametrize("finish", ["stop", None])
def test_either_mark_will_do(finish: str | None) -> None:
    reply = read(sse(chunk({"content": "Hi"}), chunk(finish=finish), done=finish is None))
    assert reply.cut is None


def test_a_whole_document_needs_no_mark() -> None:
    assert read(b'{"choices": [{"message": {"content": "Hi"}}]}').cut is None


@pytest.mark.parametrize(
    ("reason", "words", "tokens"),
    [("stop", "thought, and then said nothing", False), ("MAX_TOKENS", "after thinking", True)],
)
def test_thoughts_alone(reason: str, words: str, tokens: bool) -> None:
    with pytest.raises(ModelError) as caught:
        read(sse(chunk({"reasoning_content": "hm"}), chunk(finish=reason)))
    message = caught.value.message
    assert (words in message, "tokens" in message) == (True, tokens)
    assert "answered with nothing" not in message
