from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from personae.package.archive import text_file
from personae.package.archive.text_file import TextFault, decode, is_binary
from personae.package.steps import run


def test_a_byte_order_mark_is_dropped_and_line_ends_stay():
    assert run(decode("\ufeffa\r\nb\n".encode())) == "a\r\nb\n"
    assert run(decode(b"")) == ""


@pytest.mark.parametrize("data", ["text".encode("utf-16"), "text".encode("utf-16-be")])
def test_utf16_says_so(data: bytes):
    marked = data if data[:1] == b"\xff" else b"\xfe\xff" + data
    assert not is_binary(marked)
    with pytest.raises(TextFault, match="UTF-16"):
        run(decode(marked))


def test_what_is_no_text():
    assert is_binary(b"\x89PNG\r\n\x1a\n\0\0\0\r")
    assert not is_binary(b"caf\xe9")


@given(st.binary(max_size=40), st.integers(1, 5))
@settings(deadline=None)
def test_pieces_decode_like_the_whole(data: bytes, piece: int):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_file, "_PIECE", piece)
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return
        try:
            expected = data.decode("utf-8")
        except UnicodeDecodeError as error:
            with pytest.raises(TextFault, match=f"offset {error.start} "):
                run(decode(data))
        else:
            assert run(decode(data)) == expected.removeprefix("\ufeff")
