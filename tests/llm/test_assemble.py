"""Every way providers are known to cut a chat completion, assembled to the same reply."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.conversation.entries import ToolCall
from personae.errors import ModelError
from personae.llm.stream.reply import (
    ReasoningDelta,
    Reply,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
)
from personae.llm.stream.reply_assembly import Assembler, Delta
from personae.llm.stream.sse import SseDecoder

from tests.llm.fakes import chunk, sse


def assemble(*chunks: Any, taken: tuple[str, ...] = (), done: bool = True) -> Reply:
    return run(chunks, taken, done)[0]


def run(chunks: Any, taken: tuple[str, ...] = (), done: bool = True) -> tuple[Reply, list[Delta]]:
    assembler = Assembler(taken)
    datas = [json.dumps(item) for item in chunks] + ["[DONE]"] * done
    deltas = [delta for data in datas for delta in assembler.feed(data)]
    deltas += assembler.close()
    return assembler.reply(), deltas


def call(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    """A delta with one tool call; ``name`` goes where it belongs."""
    function = {"name": fields.pop("name")} if "name" in fields else {}
    if arguments is not None:
        function["arguments"] = arguments
    return chunk({"tool_calls": [{**fields, "type": "function", "function": function}]})


STOP = chunk(finish="stop")
BLOCK = {"type": "reasoning.text", "index": 0}
ROLL = (ToolCall("a", "roll", '{"sides":6}'),)


@pytest.mark.parametrize(
    "chunks",
    [
        pytest.param([call('{"sides":6}', index=0, id="a", name="roll"), STOP], id="finish_stop"),
        pytest.param([call('{"sides":6}', index=0, id="a", name="roll")], id="finish_none"),
        pytest.param(
            [call('{"si', id="a", name="roll"), call('des":6}'), STOP], id="no_index_then_open_call"
        ),
        pytest.param(
            [call('{"si', id="a", name="roll"), call('des":6}', id="a"), STOP], id="no_index_by_id"
        ),
        pytest.param(
            [
                call("", index=0, id="a", name="roll"),
                call('{"sides"', index=0, id="", name=""),
                call(":6}", index=0, id=" ", name=None),
                STOP,
            ],
            id="blank_identity",
        ),
        pytest.param(
            [
                call('{"si', index=0, id="a", name="roll"),
                call('des":6}', index=0, id="a", name="roll"),
                call("", index=0, id="a", name="roll"),
                STOP,
            ],
            id="repeated_identity",
        ),
        pytest.param(
            [
                call('{"si', index=0, id="a", name="roll"),
                call('des":6}', index=0, id="b"),
                STOP,
            ],
            id="other_id_without_name",
        ),
        pytest.param(
            [
                call('{"sides":6}', index=0, id="a", name="roll"),
                call('{"sides":6}', index=0, id="a", name="roll"),
                STOP,
            ],
            id="whole_call_repeated",
        ),
        pytest.param(
            [call('{"si', index=0, id="a", name="roll"), call('des":6}', index=1), STOP],
            id="index_counts_deltas",
        ),
        pytest.param(
            [call(None, index=0, id="a"), call('{"sides":6}', index=0, name="roll"), STOP],
            id="name_comes_later",
        ),
    ],
)
def test_one_call(chunks: list[dict[str, Any]]) -> None:
    assert assemble(*chunks).tool_calls == ROLL


def test_arguments_as_an_object_become_json_text() -> None:
    reply = assemble(call({"sides": 6}, index=0, id="a", name="roll"), STOP)
    assert reply.tool_calls == (ToolCall("a", "roll", '{"sides": 6}'),)


@pytest.mark.parametrize(
    "second",
    [
        call('{"sides":8}', index=1, id="b", name="roll"),
        call('{"sides":8}', index=0, id="b", name="roll"),
        call('{"sides":8}', id="b", name="roll"),
    ],
)
def test_two_calls_of_one_tool(second: dict[str, Any]) -> None:
    reply = assemble(call('{"sides":6}', index=0, id="a", name="roll"), second, STOP)
    assert reply.tool_calls == (*ROLL, ToolCall("b", "roll", '{"sides":8}'))


@pytest.mark.parametrize("index", [{}, {"index": 0}])
def test_calls_without_any_id_are_told_apart(index: dict[str, int]) -> None:
    reply = assemble(
        call('{"sides":6}', name="roll", **index),
        call('{"sides":8}', name="roll", **index),
        call('{"to', name="look", **index),
        call('":1}', **index),
        STOP,
    )
    assert [(made.name, made.arguments) for made in reply.tool_calls] == [
        ("roll", '{"sides":6}'),
        ("roll", '{"sides":8}'),
        ("look", '{"to":1}'),
    ]
    assert len({made.id for made in reply.tool_calls}) == 3


def test_a_brace_inside_a_string_does_not_begin_another_call() -> None:
    reply = assemble(call('{"x":"}', index=0, name="roll"), call('{"}', index=0, name="roll"), STOP)
    assert [made.arguments for made in reply.tool_calls] == ['{"x":"}{"}']


def test_ids_are_unique_in_the_reply_and_across_rounds() -> None:
    reply = assemble(
        call("{}", index=0, id="a", name="roll"),
        call("{}", index=1, id="a", name="roll"),
        call("{}", index=2, id="old", name="roll"),
        call("{}", index=3, name="roll"),
        STOP,
        taken=("old", "call00001"),
    )
    ids = [made.id for made in reply.tool_calls]
    assert ids[0] == "a"
    assert len({*ids, "old", "call00001"}) == 6
    assert all(id_.isalnum() and len(id_) == 9 for id_ in ids[1:])


def test_interleaved_calls() -> None:
    reply = assemble(
        call('{"a"', index=0, id="a", name="one"),
        call('{"b"', index=1, id="b", name="two"),
        call(":1}", index=0),
        call(":2}", index=1),
        STOP,
    )
    assert [made.arguments for made in reply.tool_calls] == ['{"a":1}', '{"b":2}']


def test_interleaved_calls_without_an_index_go_by_their_ids() -> None:
    reply = assemble(
        call('{"a"', id="a", name="one"),
        call('{"b"', id="b", name="two"),
        call(":1}", id="a"),
        call(":2}", id="b"),
        STOP,
    )
    assert [made.arguments for made in reply.tool_calls] == ['{"a":1}', '{"b":2}']


def test_a_made_up_id_leaves_later_ids_of_the_provider_alone() -> None:
    reply = assemble(
        call("{}", index=0, name="roll"), call("{}", index=1, id="call00001", name="roll"), STOP
    )
    assert [made.id for made in reply.tool_calls] == ["call00002", "call00001"]


@pytest.mark.parametrize("finish", ["length", "content_filter", None])
def test_a_call_that_was_cut_is_never_run(finish: str | None) -> None:
    reply = assemble(
        call("", index=0, id="a", name="look"),
        call('{"sides":6}', index=1, id="b", name="roll"),
        call('{"sides":', index=2, id="c", name="roll"),
        chunk(finish=finish),
        done=False,
    )
    assert [made.id for made in reply.tool_calls] == ["a", "b"]
    assert [made.id for made in reply.cut_calls] == ["c"]
    assert reply.cut == {"length": "length", "content_filter": "filter", None: "end"}[finish]


def test_a_last_call_without_arguments_counts_as_cut_when_the_reply_was() -> None:
    named = call("", index=0, id="a", name="look")
    assert assemble(named, chunk(finish="length")).tool_calls == ()
    assert assemble(named, STOP).tool_calls == (ToolCall("a", "look", ""),)


def test_unfinished_arguments_of_a_finished_reply_are_left_to_the_parser() -> None:
    reply = assemble(call('{"sides":', index=0, id="a", name="roll"), STOP)
    assert reply.tool_calls == (ToolCall("a", "roll", '{"sides":'),)


def test_a_call_without_a_name_is_dropped() -> None:
    assert assemble(call("{}", index=0, id="a"), STOP).tool_calls == ()


def test_odd_chunks_are_skipped_and_usage_is_kept() -> None:
    reply = assemble(
        {"choices": [], "id": ""},
        {},
        {"choices": None},
        {"choices": [None, 5]},
        {"choices": [{"index": 0, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        {"type": "ping"},
        chunk({"role": "assistant", "content": "Hi"}, model="m-1"),
        chunk({"content": None}),
        chunk({"content": 5, "tool_calls": None}),
        chunk({"tool_calls": [None, "x", {"index": 0, "function": None}]}),
        STOP,
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}},
        {"choices": [], "usage": None},
    )
    assert (reply.text, reply.tool_calls) == ("Hi", ())
    assert reply.usage == {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}


def test_keep_alive_data_is_ignored() -> None:
    assembler = Assembler()
    for data in ["", ": keep-alive", "ping", "[PING]", "null", '"x"']:
        assert list(assembler.feed(data)) == []
    assert not assembler.recognised


def test_content_parts() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [
        {"type": "text", "text": "Hel"},
        {"type": "reference", "reference_ids": [1]},
        {"type": "image_url", "text": "no"},
        {"type": "text", "text": "lo"},
    ]
    reply = assemble(
        chunk({"content": [thought]}), chunk({"content": parts}), chunk({"content": "!"}), STOP
    )
    assert (reply.text, reply.reasoning) == ("Hello!", "hm")


def test_a_whole_message_in_place_of_deltas() -> None:
    message = {
        "role": "assistant",
        "content": "OK",
        "reasoning_content": "hm",
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "x", "arguments": "{}"}}
        ],
    }
    whole = {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    reply, deltas = run([whole])
    assert (reply.text, reply.reasoning) == ("OK", "hm")
    assert reply.tool_calls == (ToolCall("a", "x", "{}"),)
    assert deltas == [ReasoningDelta("hm"), TextDelta("OK"), ToolCallDelta(0, "x")]


def test_a_message_that_repeats_the_stream_is_not_counted_twice() -> None:
    last = {"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": "Hi"}}]}
    assert assemble(chunk({"content": "Hi"}), last).text == "Hi"


@pytest.mark.parametrize(
    ("deltas", "fields"),
    [
        (
            [{"reasoning_content": "a"}, {"reasoning_content": "b"}],
            {"reasoning_content": "ab"},
        ),
        ([{"reasoning": "a"}, {"reasoning": "b"}], {"reasoning": "ab"}),
        (
            [
                {"reasoning": "a", "reasoning_details": [{**BLOCK, "text": "a"}]},
                {"reasoning": "b", "reasoning_details": [{**BLOCK, "text": "b"}]},
                {"reasoning_details": [{**BLOCK, "text": None, "signature": "s"}]},
                {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 1}]},
                {"reasoning_details": [{"type": "reasoning.encrypted", "data": "y", "index": 1}]},
            ],
            {
                "reasoning": "ab",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"},
                    {"type": "reasoning.encrypted", "data": "x", "index": 1},
                    {"type": "reasoning.encrypted", "data": "y", "index": 1},
                ],
            },
        ),
        (
            [
                {"reasoning_details": [{"type": "reasoning.summary", "summary": "a"}]},
                {"reasoning_details": [{"type": "reasoning.summary", "summary": "b"}]},
            ],
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "ab"}]},
        ),
    ],
)
def test_reasoning_is_shown_once_and_sent_back_as_it_came(
    deltas: list[dict[str, Any]], fields: dict[str, Any]
) -> None:
    named = call("{}", index=0, id="a", name="roll")
    reply = assemble(*map(chunk, deltas), chunk({"content": "Hi"}), named, STOP)
    assert (reply.reasoning, reply.text) == ("ab", "Hi")
    assert reply.reasoning_fields == fields
    message = reply.message()
    assert {name: message[name] for name in fields} == fields


def test_reasoning_is_no_history_outside_a_tool_round() -> None:
    reply = assemble(chunk({"reasoning_content": "hm"}), chunk({"content": "Hi"}), STOP)
    assert reply.message() == {"role": "assistant", "content": "Hi"}


@pytest.mark.parametrize(
    "thought",
    [{"reasoning": "hm"}, {"content": [{"type": "thinking", "thinking": "hm"}]}],
)
def test_a_closing_think_tag_is_text_when_reasoning_came_apart(thought: dict[str, Any]) -> None:
    reply = assemble(chunk(thought), chunk({"content": "a</think>b"}), STOP)
    assert (reply.text, reply.reasoning) == ("a</think>b", "hm")


def test_think_tags_in_the_text() -> None:
    reply = assemble(chunk({"content": "<thi"}), chunk({"content": "nk>hm</think>Hi"}), STOP)
    assert (reply.text, reply.reasoning, reply.reasoning_fields) == ("Hi", "hm", {})


def test_an_unopened_think_tag_takes_back_what_was_said() -> None:
    reply, deltas = run([chunk({"content": "hm"}), chunk({"content": "</think>Hi"}), STOP])
    assert deltas == [TextDelta("hm"), TextWasReasoning(), TextDelta("Hi")]
    assert (reply.text, reply.reasoning) == ("Hi", "hm")


def test_surrogates_split_between_chunks_are_joined() -> None:
    moon = "\ud83c\udf19"
    reply, deltas = run(
        [
            chunk({"content": f"a{moon[0]}"}),
            chunk({"content": f"{moon[1]}b{moon[1]}"}),
            chunk({"content": moon[0]}),
            call(f'{{"x":"{moon[0]}', index=0, id="a", name="roll"),
            call(f'{moon[1]}"}}', index=0),
            STOP,
        ]
    )
    assert reply.text == "a\U0001f319b\ufffd\ufffd"
    assert reply.tool_calls[0].arguments == '{"x":"\U0001f319"}'
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == reply.text


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"error": {"message": "boom", "code": 500}}, "model_server_error", "boom"),
        ({"error": "boom"}, "model_stream_error", "boom"),
        ({"object": "error", "message": "boom", "code": 429}, "model_rate_limited", "boom"),
        (
            {"error": {"message": "This model's maximum context length is 9"}, "choices": []},
            "model_context_length",
            "maximum context length is 9",
        ),
        (
            {"choices": [{"index": 0, "error": {"message": "boom"}, "delta": {}}]},
            "model_stream_error",
            "boom",
        ),
    ],
)
def test_an_error_object_inside_the_stream(error: Any, code: str, message: str) -> None:
    with pytest.raises(ModelError, match=message) as caught:
        assemble(chunk({"content": "Hi"}), error)
    assert caught.value.code == code


def test_broken_json_in_the_middle_is_an_error() -> None:
    with pytest.raises(ModelError) as caught:
        list(Assembler().feed('{"choices": [{"delta"'))
    assert caught.value.code == "model_stream_error"


def test_a_hundred_calls() -> None:
    calls = [call(f'{{"n":{n}}}', index=n, id=f"c{n}", name="roll") for n in range(100)]
    reply = assemble(*calls, STOP)
    assert [json.loads(made.arguments)["n"] for made in reply.tool_calls] == list(range(100))


def test_ten_megabytes_of_arguments_take_linear_time() -> None:
    def seconds(pieces: int) -> float:
        piece = call("x" * 1000, index=0, id="a", name="roll")
        assembler = Assembler()
        list(assembler.feed(json.dumps(call('{"x":"', index=0, id="a", name="roll"))))
        started = time.process_time()
        for _ in range(pieces):
            list(assembler.feed_chunk(piece))
        list(assembler.feed(json.dumps(call('"}', index=0))))
        assert len(assembler.reply().tool_calls[0].arguments) == pieces * 1000 + 8
        return time.process_time() - started

    seconds(100)
    assert seconds(10_000) < 50 * max(seconds(1_000), 0.002)


ARGUMENTS = st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=3)


def cut_up(data: st.DataObject, text: str) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(
    text=st.text(max_size=30),
    thought=st.text(max_size=10),
    calls=st.lists(ARGUMENTS, max_size=3),
    data=st.data(),
)
def test_cutting_anywhere_gives_the_same_reply(
    text: str, thought: str, calls: list[dict[str, Any]], data: st.DataObject
) -> None:
    """The same message: whole, and with every part and the bytes cut at drawn places."""
    arguments = [json.dumps(made) for made in calls]
    message = {
        "content": text,
        "reasoning": thought,
        "tool_calls": [
            {"id": f"c{n}", "function": {"name": "roll", "arguments": made}}
            for n, made in enumerate(arguments)
        ],
    }
    whole = assemble({"choices": [{"message": message, "finish_reason": "stop"}]})
    chunks = [chunk({"reasoning": piece}) for piece in cut_up(data, thought)]
    chunks += [chunk({"content": piece}) for piece in cut_up(data, text)]
    for n, made in enumerate(arguments):
        chunks.append(call("", index=n, id=f"c{n}", name="roll"))
        chunks += [call(piece, index=n) for piece in cut_up(data, made)]
    stream = sse(*chunks, STOP)
    size = data.draw(st.integers(1, 40))
    decoder, assembler = SseDecoder(), Assembler()
    for at in range(0, len(stream), size):
        for event in decoder.feed(stream[at : at + size]):
            list(assembler.feed(event.data))
    list(assembler.close())
    assert assembler.reply() == whole
