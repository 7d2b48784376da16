"""What was typed and not sent, one text a conversation, kept until it is sent or deleted.

All of them are read once, so that a conversation that opens finds its own at once. Invariant:
every fault of storage leaves drafts that last as long as the page lives.
"""

from __future__ import annotations

from collections.abc import Mapping

from personae.errors import StorageError
from personae.ports import Delete, Put, Query
from personae.storage.records import draft_key, loads
from personae.storage.saver import Saver
from personae.written import dumps


class Drafts:
    def __init__(self, saver: Saver) -> None:
        self._saver = saver
        self._texts: dict[str, str] = {}
        self._unsaved: set[str] = set()

    async def load(self) -> None:
        """Reads what is stored; what was typed before that stays."""
        try:
            records = await self._saver.read(Query("settings", draft_key("")[:1]))
        except StorageError:
            return
        self._texts = {**_texts({str(r.key[-1]): r.value for r in records}), **self._texts}

    def of(self, conversation_id: str) -> str:
        """The draft of a conversation; empty: it has none."""
        return self._texts.get(conversation_id, "")

    def put(self, conversation_id: str, text: str) -> None:
        """Takes a draft over as it is now; ``save`` stores it. Empty: there is none any more."""
        if text != self.of(conversation_id):
            self._texts[conversation_id] = text
            self._unsaved.add(conversation_id)

    def renew(self, conversation_id: str) -> None:
        """Stores the draft of a conversation that was deleted and is back."""
        if self.of(conversation_id):
            self._unsaved.add(conversation_id)
            self.save()

    def save(self) -> None:
        """Stores what has changed, without waiting."""
        writes = [
            Put("settings", draft_key(one), dumps(text))
            if (text := self.of(one))
            else Delete("settings", draft_key(one))
            for one in sorted(self._unsaved)
        ]
        self._unsaved.clear()
        if writes:
            self._saver.write_later(writes)


def _texts(records: Mapping[str, str | bytes]) -> dict[str, str]:
    """The texts of the records; a damaged one is none."""
    found = {}
    for conversation_id, value in records.items():
        try:
            text = loads(value)
        except StorageError:
            continue
        if isinstance(text, str):
            found[conversation_id] = text
    return found
