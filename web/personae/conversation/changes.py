"""What the app is told by the event ``change``: what of the things it shows is another now.

A consumer that matches these values knows all there are; embedders do not hear them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from personae.conversation.entries import Entry

State = Literal[
    "loading",
    "idle",
    "preload",
    "waiting",
    "thinking",
    "streaming",
    "tools",
    "hooks",
    "retrying",
]


@dataclass(frozen=True, slots=True)
class TurnState:
    """What the turn is doing."""

    state: State = "idle"
    detail: str = ""
    """Whose preload, which tool is ``streaming`` or at work (``tools``), why it is ``retrying``."""
    seconds: float | None = None
    """From the beginning of ``retrying`` to the next try."""


@dataclass(frozen=True, slots=True)
class ConversationOpened:
    """Another conversation is the open one."""

    conversation_id: str


@dataclass(frozen=True, slots=True)
class EntriesReplaced:
    """The list of entries is another one."""


@dataclass(frozen=True, slots=True)
class EntryAdded:
    """An entry is new at the end."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryUpdated:
    """An entry says something else than before."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class EntryRemoved:
    """An entry was taken out that never came to mean anything."""

    entry: Entry


@dataclass(frozen=True, slots=True)
class TurnChanged:
    turn: TurnState


@dataclass(frozen=True, slots=True)
class AnsweringChanged:
    """A response is under way from now on, or no longer."""

    answering: bool


@dataclass(frozen=True, slots=True)
class ReadOnlyChanged:
    """Whether another tab holds the open conversation."""

    read_only: bool


@dataclass(frozen=True, slots=True)
class AgentsChanged:
    """What is known of the agents: their stores, their logs, what they spent."""


Change = (
    ConversationOpened
    | EntriesReplaced
    | EntryAdded
    | EntryUpdated
    | EntryRemoved
    | TurnChanged
    | AnsweringChanged
    | ReadOnlyChanged
    | AgentsChanged
)
Changed = Callable[[Change], None]
