"""A conversation's own record, and its JSON form.

Invariant: fields of a newer version stay as they are, in the record and in every copy of the
conversation; ``Head.successor`` is the one place that makes a copy's head. A head that names no
members is of a conversation with one character.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from personae.conversation.entries import FIRST_MEMBER
from personae.conversation.numbers import moment_from
from personae.errors import StorageError
from personae.storage.scopes import ROOM


@dataclass(slots=True)
class PendingEdit:
    """An edit that is saved while some agents have not heard of it yet (afterUserEdit)."""

    lost: dict[str, list[int]]
    """Member -> its toolCallIds that left the history, ascending."""
    last_viable: int
    agents: list[str]
    """The agents still to be told, as ``scopes.scoped`` names them."""

    def lost_to(self, scope: str) -> list[int]:
        """The toolCallIds that the agents of a scope have lost; the room's, all of them."""
        if scope == ROOM:
            return sorted(number for numbers in self.lost.values() for number in numbers)
        return self.lost.get(scope, [])

    def lose(self, lost: Mapping[str, Sequence[int]]) -> None:
        """Takes in what a further edit has removed."""
        for member, numbers in lost.items():
            self.lost[member] = sorted({*self.lost.get(member, ()), *numbers})

    def find(self, found: Mapping[str, Collection[int]]) -> None:
        """Takes in which numbers are in the history, be it again: they are not lost."""
        left = {
            member: [number for number in numbers if number not in found.get(member, ())]
            for member, numbers in self.lost.items()
        }
        self.lost = {member: numbers for member, numbers in left.items() if numbers}


@dataclass(slots=True)
class Head:
    """Times are milliseconds since the epoch."""

    id: str
    character_id: str
    created_at: int
    updated_at: int
    title: str = ""
    named: bool = False
    """Whether the user chose the title."""
    next_entry: int = 1
    last_number: int = 0
    """The last toolCallId handed out; never goes back."""
    tokens_spent: int = 0
    edit: PendingEdit | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields of a newer version, kept as they are."""

    def successor(self, identity: str, character_id: str, at: int, **changes: Any) -> Head:
        """The head of a copy that begins now (fork, import): all that this one has."""
        return replace(
            deepcopy(self),
            id=identity,
            character_id=character_id,
            created_at=at,
            updated_at=at,
            **changes,
        )


def head_to_json(head: Head) -> dict[str, Any]:
    data: dict[str, Any] = {
        **head.extra,
        "id": head.id,
        "characterId": head.character_id,
        "title": head.title,
        "named": head.named,
        "createdAt": head.created_at,
        "updatedAt": head.updated_at,
        "nextEntry": head.next_entry,
        "lastToolCallId": head.last_number,
        "tokensSpent": head.tokens_spent,
    }
    if head.edit is not None:
        data["edit"] = _edit_to_json(head.edit)
    return data


def head_from_json(data: Any) -> Head:
    """The head, or StorageError ``conversation_unreadable``."""
    try:
        known = dict(data)
        edit = known.pop("edit", None)
        return Head(
            id=str(known.pop("id")),
            character_id=str(known.pop("characterId")),
            created_at=moment_from(known.pop("createdAt")),
            updated_at=moment_from(known.pop("updatedAt")),
            title=str(known.pop("title", "")),
            named=bool(known.pop("named", False)),
            next_entry=int(known.pop("nextEntry", 1)),
            last_number=int(known.pop("lastToolCallId", 0)),
            tokens_spent=int(known.pop("tokensSpent", 0)),
            edit=None if edit is None else _edit_from_json(edit),
            extra=known,
        )
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        # Other errors quote what they met, which is a text of whoever made the record.
        what = repr(error) if isinstance(error, KeyError) else type(error).__name__
        raise StorageError(
            "conversation_unreadable",
            f"A conversation's record cannot be read ({what}). It was left as it is.",
        ) from error


def _edit_to_json(edit: PendingEdit) -> dict[str, Any]:
    others = {member: lost for member, lost in edit.lost.items() if member != FIRST_MEMBER}
    return {
        "deletedToolCallIds": edit.lost.get(FIRST_MEMBER, []),
        "lastViableToolCallId": edit.last_viable,
        "agents": edit.agents,
        **({"deletedOfOthers": others} if others else {}),
    }


def _edit_from_json(data: Any) -> PendingEdit:
    own = data["deletedToolCallIds"]
    lost = {**({FIRST_MEMBER: own} if own else {}), **data.get("deletedOfOthers", {})}
    return PendingEdit(
        lost={str(member): [int(number) for number in numbers] for member, numbers in lost.items()},
        last_viable=int(data["lastViableToolCallId"]),
        agents=[str(agent) for agent in data["agents"]],
    )
