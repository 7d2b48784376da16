"""The outside world as the player core sees it: five small Protocols.

Real adapters live in ``browser/``; a fake of each lives in ``tests/fakes.py``. Above these
ports there are only plain Python values.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Key = tuple[str | int, ...]
Table = Literal[
    "packages",
    "files",
    "conversations",
    "entries",
    "stores",
    "logs",
    "world",
    "commits",
    "artifacts",
    "settings",
]
Language = Literal["javascript", "typescript", "python", "lua"]


@dataclass(frozen=True, slots=True)
class Record:
    """One stored record. ``value`` is JSON text, or bytes for package files."""

    key: Key
    value: str | bytes


@dataclass(frozen=True, slots=True)
class Query:
    """Asks for the records of a table whose key starts with ``prefix``, ascending by key.

    With ``limit``, the last ``limit`` of them; with ``before``, only keys below it. With a whole
    key as ``prefix`` the answer is one record or none.
    """

    table: Table
    prefix: Key = ()
    limit: int | None = None
    before: Key | None = None

    def among(self, records: Mapping[Key, str | bytes]) -> list[Record]:
        """What it asks for of a table that is held in memory."""
        keys = sorted(
            key
            for key in records
            if starts_with(key, self.prefix) and (self.before is None or key < self.before)
        )
        wanted = keys if self.limit is None else keys[-self.limit :]
        return [Record(key, records[key]) for key in wanted]


def starts_with(key: Key, prefix: Key) -> bool:
    return key[: len(prefix)] == prefix


@dataclass(frozen=True, slots=True)
class Put:
    table: Table
    key: Key
    value: str | bytes


@dataclass(frozen=True, slots=True)
class Delete:
    """Deletes the record with ``key``, or with ``prefix=True`` every key that starts with it."""

    table: Table
    key: Key
    prefix: bool = False

    def covers(self, key: Key) -> bool:
        return starts_with(key, self.key) if self.prefix else key == self.key


class Storage(Protocol):
    """Durable records in tables, keyed by tuples. Errors: StorageError."""

    async def read(self, query: Query) -> list[Record]: ...

    async def keys(self, table: Table) -> list[Key]:
        """The keys of all records of a table, ascending."""
        ...

    async def commit(self, writes: Sequence[Put | Delete]) -> None:
        """All writes in one transaction; returns when it is complete (all or nothing)."""
        ...


@dataclass(frozen=True, slots=True)
class HttpRequest:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[str, ...] = ()
    """The body, in pieces; a long one that goes with the next request too is the same object."""

    @property
    def body(self) -> str | None:
        """The whole body; None when there is none."""
        return "".join(self.pieces) if self.pieces else None


class HttpResponse(Protocol):
    """A response whose body is still arriving."""

    status: int
    headers: Mapping[str, str]
    """Header names in lower case."""
    url: str

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives; ends at the end of the body. Raises ModelError on a reset."""
        ...

    async def close(self) -> None:
        """Cancels what has not arrived yet; harmless when repeated."""
        ...


class ModelTransport(Protocol):
    """Carries one HTTP request to a model endpoint, and its answer."""

    async def open(self, request: HttpRequest) -> HttpResponse:
        """Returns when the status and headers are there. Raises ModelError when unreachable."""
        ...


class Wire(Protocol):
    """The page's end of the channel to one worker.

    A message is a line of JSON (see ``protocol.json``), after it the message's body, if it has
    one, and beside it the agent's store, if it carries one: JSON texts that are passed on as they
    are.
    """

    def post(self, text: str, store: str | None = None) -> None: ...

    def terminate(self) -> None:
        """Ends the worker at once, whatever it is doing; harmless when repeated."""
        ...


Receive = Callable[[str, str | None], None]
"""Gets each message a worker posts: its text, and the store beside it."""


class Sandbox(Protocol):
    """Starts isolated workers."""

    most_python_workers: int
    """How many Python workers may stay when they are idle: each takes 50 to 100 MB."""

    async def open(self, language: Language, receive: Receive, extras: Sequence[str] = ()) -> Wire:
        """Boots a worker for ``language``; returns when it takes messages.

        ``extras``: what it gets beside the runtime, see ``sandbox/extras.py``. Raises AgentError
        when it cannot boot.
        """
        ...


class Clock(Protocol):
    """Time, so that tests need none."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def monotonic(self) -> float:
        """Milliseconds from an arbitrary start; never goes back."""
        ...

    async def sleep(self, milliseconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Note:
    """Something that is good to know for a moment."""

    text: str


@dataclass(frozen=True, slots=True)
class Caution:
    """Something of the user's is damaged or missing."""

    text: str


@dataclass(frozen=True, slots=True)
class StorageFails:
    """What is said from now on may be lost, until storage works."""

    text: str


@dataclass(frozen=True, slots=True)
class StorageWorks:
    """Storage works again, and everything is stored."""


Notice = Note | Caution | StorageFails | StorageWorks


class Notifier(Protocol):
    """Tells the user something that is not part of the conversation."""

    def notify(self, notice: Notice) -> None: ...
