"""The event-stream grammar, and that splitting never matters."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.llm.stream.sse import SseDecoder, SseEvent


def decode(*pieces: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    events = [event for piece in pieces for event in decoder.feed(piece)]
    return events + decoder.finish()


@pytest.mark.parametrize(
    ("stream", "data"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b"data: a\r\n\rdata: b\n\r\n", ["a", "b"]),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b"data:a\n\ndata:  b\n\n", ["a", " b"]),
        (b"data: a\ndata: b\ndata\n\n", ["a\nb\n"]),
        (b": comment\n\ndata: a\n: another\n\n", ["a"]),
        (b"data\n\ndata:\n\n", ["", ""]),
        (b"event: ping\n\ndata: a\n\n", ["a"]),
        (b"id: 7\nretry: 100\nunknown: x\n\n", []),
        (b"data: a\n\ndata: cut", ["a", "cut"]),
        (b"data: a\n\ndata: cut\n", ["a", "cut"]),
        ("data: \u2028 \x85 \x0b\n\n".encode(), ["\u2028 \x85 \x0b"]),
        (b"data: \xf0\x9f\x8c\n\n", ["\ufffd"]),
        (b"data: a: b\n\n", ["a: b"]),
        (b"", []),
    ],
)
def test_grammar(stream: bytes, data: list[str]) -> None:
    assert [event.data for event in decode(stream)] == data


def test_event_type_belongs_to_its_event_only() -> None:
    assert decode(b"event: error\ndata: a\n\ndata: b\n\n") == [
        SseEvent("a", "error"),
        SseEvent("b"),
    ]


LINES = st.lists(
    st.sampled_from(
        [
            b"data: x",
            b"data:\xe4\xbd\xa0\xf0\x9f\x8c\x8d",
            b"data",
            b": c",
            b"event: e",
            b"",
            b"\xff",
        ]
    ),
    max_size=12,
)
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(
    lines=LINES, ends=st.lists(ENDS, min_size=12, max_size=12), bom=st.booleans(), data=st.data()
)
def test_splitting_anywhere_gives_the_same_events(
    lines: list[bytes], ends: list[bytes], bom: bool, data: st.DataObject
) -> None:
    stream = b"\xef\xbb\xbf" * bom + b"".join(
        line + end for line, end in zip(lines, ends, strict=False)
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert decode(*pieces) == decode(stream)
    assert decode(*(stream[at : at + 1] for at in range(len(stream)))) == decode(stream)


@given(stream=st.binary(max_size=60), cut=st.integers(0, 60))
def test_any_bytes_decode_the_same_however_split(stream: bytes, cut: int) -> None:
    assert decode(stream[:cut], stream[cut:]) == decode(stream)


def test_a_long_line_in_small_pieces_takes_linear_time() -> None:
    def seconds(size: int) -> float:
        started = time.process_time()
        decode(*[b"data: ", *[b"x" * 10] * (size // 10), b"\n\n"])
        return time.process_time() - started

    seconds(10_000)
    assert seconds(1_000_000) < 40 * max(seconds(100_000), 0.001)
