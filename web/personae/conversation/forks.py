"""A fork: a new conversation that begins with another one's entries up to a point.

Reference: Hook events, afterUserEdit ("after a fork"). The source stays as it is; entry ids and
toolCallIds are kept, so the fork's counters continue from the source's.
"""

from __future__ import annotations

from collections.abc import Sequence

from personae.conversation.edits import Edit, truncate
from personae.conversation.entries import Entry


def fork(entries: Sequence[Entry], entry_id: str) -> Edit:
    """What the fork holds; ``removed`` and ``lost`` are the source's past the point.

    Raises UsageError ``unknown_entry``.
    """
    return truncate(entries, entry_id)
