"""A whole conversation as it was at one moment, to be written under another id.

It is a value: nothing that happens to the conversation afterwards changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from personae.conversation.entries import Entry
from personae.ports import Put
from personae.sandbox.process import StoreText
from personae.storage.head import Head
from personae.storage.records import put_entry, put_head, put_store


@dataclass(frozen=True, slots=True)
class Snapshot:
    head: Head
    entries: Sequence[Entry]
    stores: Mapping[str, StoreText]
    """By owner, as ``scopes.scoped`` names it."""
    verbatim: Sequence[Put] = ()
    """Records that are taken over as they are: logs, and what cannot be read."""

    def writes(self, head: Head) -> Iterator[Put]:
        """The records of a copy with that head."""
        yield put_head(head)
        for entry in self.entries:
            yield put_entry(head.id, entry)
        for owner, store in self.stores.items():
            yield put_store(head.id, owner, store)
        for put in self.verbatim:
            yield Put(put.table, (head.id, *put.key[1:]), put.value)
