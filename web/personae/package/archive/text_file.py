"""Text as a package holds it: UTF-8, a byte order mark dropped, line ends kept."""

from __future__ import annotations

import codecs

from personae.package.steps import Steps

_PIECE = 1 << 18
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class TextFault(ValueError):
    """The reason why bytes are not text."""


def decode(data: bytes) -> Steps[str]:
    """The text of a file. Raises TextFault, which names the offset of the first bad byte."""
    if data.startswith(_UTF16_MARKS):
        raise TextFault("the file is UTF-16; save it as UTF-8")
    decoder = codecs.getincrementaldecoder("utf-8")()
    pieces: list[str] = []
    for start in range(0, len(data), _PIECE):
        pieces.append(_piece(decoder, data, start))
        yield "decoding", start, len(data)
    return "".join(pieces).removeprefix("\ufeff")


def is_binary(data: bytes) -> bool:
    """Whether a file is no text at all (a picture, a font) rather than badly encoded text."""
    return b"\0" in data and not data.startswith(_UTF16_MARKS)


def _piece(decoder: codecs.IncrementalDecoder, data: bytes, start: int) -> str:
    end = start + _PIECE
    pending = len(decoder.getstate()[0])
    try:
        return decoder.decode(data[start:end], final=end >= len(data))
    except UnicodeDecodeError as error:
        offset = start - pending + error.start
        raise TextFault(
            f"byte {data[offset]:#04x} at offset {offset} is not UTF-8; save the file as UTF-8"
        ) from None
