"""What agents see of the conversation (reference: studio.history.search, studio.history.range).

An index is a position in the whole list of entries; logs, tool results, tool-only rounds and
rejected responses keep their position and are not shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from personae.conversation.entries import Entry
from personae.conversation.turns import is_said


def search(entries: Sequence[Entry], query: str) -> list[dict[str, Any]]:
    """``[{role, content, index}]`` of what was said that contains ``query`` in any case."""
    wanted = query.casefold()
    return [said for said in _said(entries) if wanted in said["content"].casefold()]


def span(entries: Sequence[Entry], start: int, end: int) -> list[dict[str, Any]]:
    """``[{role, content, index}]`` of what was said at ``start`` up to, not with, ``end``."""
    first, last = max(0, start), max(0, end)
    return list(_said(entries[first:last], first))


def _said(entries: Sequence[Entry], offset: int = 0) -> Iterator[dict[str, Any]]:
    for index, entry in enumerate(entries, offset):
        if is_said(entry):
            yield {"role": entry.role, "content": entry.content, "index": index}
