"""Event streams passing through: whole events, as the bytes they came in."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

# Two line ends; LF, CRLF and CR are each one.
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r|\n\r\n|\r\n\n")
MAX_EVENT = 2**20
"""A longer one is passed on in parts: nothing is held back without bound."""


async def events(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Each event with the blank line that ends it, as soon as that is there."""
    pending = bytearray()
    async for chunk in chunks:
        searched = max(0, len(pending) - 3)
        pending += chunk
        while end := _END.search(pending, searched):
            yield bytes(pending[: end.end()])
            del pending[: end.end()]
            searched = 0
        if len(pending) > MAX_EVENT:
            yield bytes(pending)
            pending.clear()
    if pending:
        yield bytes(pending)


def data_of(event: bytes) -> bytes:
    """The event's data; empty for comments."""
    lines = (line for line in event.splitlines() if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)
