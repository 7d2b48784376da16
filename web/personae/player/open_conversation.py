"""Opening and leaving conversations: the lock, the repair, the agents' start.

Invariants: a conversation is written by the tab that holds its lock, others read it and take over
when it is free; a conversation that cannot be read is not opened and not written; the workers of
a conversation that was left live until its last call has ended; one is opened at a time, and none
once all was closed; a lock that was got is held by the session it was got for, or given back.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from personae.conversation.changes import ConversationOpened, EntriesReplaced, ReadOnlyChanged
from personae.conversation.repair import INTERRUPTED, open_calls
from personae.errors import PersonaeError, StorageError, UsageError
from personae.player.editing import catch_up
from personae.player.environment import Environment
from personae.player.seats import Cast
from personae.player.session import Session
from personae.storage.conversations import Conversations
from personae.storage.journal import Journal
from personae.storage.leases import Lease, ask_for
from personae.turn.events import Events

LOCK_POLL = 2_000
"""Milliseconds between two tries to take over a conversation."""


class OpenConversation:
    """Holds the open session and replaces it."""

    def __init__(
        self, cast: Cast, conversations: Conversations, environment: Environment, events: Events
    ) -> None:
        self._cast = cast
        self._conversations = conversations
        self._saver = environment.saver
        self._environment = environment
        self._events = events
        self._session: Session | None = None
        self._ended = False
        self._one_opens = asyncio.Lock()
        self._leaving: dict[asyncio.Task[None], Session] = {}
        self._background: set[asyncio.Task[None]] = set()

    @property
    def has_session(self) -> bool:
        return self._session is not None

    @property
    def session(self) -> Session:
        """The open session. Raises UsageError ``not_ready`` or ``disposed``."""
        self._check_alive()
        if self._session is None:
            raise UsageError("not_ready", "The player is not ready yet: await ready() first.")
        return self._session

    async def open_newest(self) -> None:
        """Opens the conversation that changed last, or a new one."""
        try:
            heads = await self._conversations.heads()
            if heads:
                await self.open(heads[0].id)
                return
        except StorageError as error:
            self._saver.suspend(error)
            for head in self._conversations.unstored_heads()[:1]:
                await self.open(head.id)
                return
        await self.open_new()

    async def open_new(self) -> str:
        """Opens a new conversation; its id."""
        async with self._one_opens:
            journal = await self._conversations.create()
            await self._enter(journal, await self._lock(journal.id))
            return journal.id

    async def whole(self) -> None:
        """Returns when all of the open conversation has been read, or it was left."""
        reading = self.session.reading
        if reading is not None:
            await asyncio.wait([reading])

    async def open(self, conversation_id: str) -> None:
        """Opens a stored conversation. Raises UsageError, StorageError; then nothing changes."""
        await self._closed(conversation_id)
        async with self._one_opens:
            if self._session is None or self._session.journal.id != conversation_id:
                await self._load(conversation_id, await self._lock(conversation_id))

    async def _load(self, conversation_id: str, lease: Lease | None) -> None:
        """Opens a conversation under its lock: what another tab wrote last is read."""
        with self._given_back_on_failure(conversation_id, lease):
            journal = await self._conversations.load(conversation_id)
        await self._enter(journal, lease)

    async def delete(self, conversation_id: str) -> None:
        """Deletes a conversation; the open one is replaced. Raises UsageError, StorageError."""
        if conversation_id == self.session.journal.id:
            self.session.check_writable()
            others = [h for h in await self._conversations.heads() if h.id != conversation_id]
            await (self.open(others[0].id) if others else self.open_new())
        else:
            await self._conversations.head(conversation_id)
        await self._closed(conversation_id, at_once=True)
        async with self._held(conversation_id):
            await self._conversations.delete(conversation_id)

    async def rename(self, conversation_id: str, title: str) -> None:
        """Gives a conversation a title. Raises UsageError, StorageError."""
        session = self.session
        if conversation_id == session.journal.id:
            session.check_writable()
            session.journal.rename(title)
            await session.journal.save()
            return
        await self._closed(conversation_id)
        async with self._held(conversation_id):
            await self._conversations.rename(conversation_id, title)

    async def _closed(self, conversation_id: str, *, at_once: bool = False) -> None:
        """Waits until a conversation that was left here is closed; ``at_once``: hooks are cut."""
        for task, session in tuple(self._leaving.items()):
            if session.journal.id == conversation_id:
                if at_once:
                    session.end()
                await asyncio.wait([task])

    @asynccontextmanager
    async def _held(self, conversation_id: str) -> AsyncIterator[None]:
        """Holds another conversation's lock."""
        lease = await self._lock(conversation_id)
        if lease is None:
            raise UsageError("read_only", "This conversation is open in another tab.")
        try:
            yield
        finally:
            self._saver.give_back(self._name(conversation_id), lease)

    def _check_alive(self) -> None:
        if self._ended:
            raise disposed()

    @contextmanager
    def _given_back_on_failure(self, conversation_id: str, lease: Lease | None) -> Iterator[None]:
        try:
            yield
        except BaseException:
            if lease is not None:
                self._saver.give_back(self._name(conversation_id), lease)
            raise

    async def _lock(self, conversation_id: str) -> Lease | None:
        """The conversation's lock, if no other tab has it."""
        name = self._name(conversation_id)
        return self._saver.take_back(name) or await ask_for(self._environment.lock, name)

    def _name(self, conversation_id: str) -> str:
        return self._conversations.lock_name(conversation_id)

    async def close(self) -> None:
        """Ends everything, also what is left of conversations that were left."""
        self._ended = True
        session, self._session = self._session, None
        if session is not None:
            session.end()
            await self._close(session)
        for left in self._leaving.values():
            left.end()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._leaving, *self._background, return_exceptions=True)

    async def _enter(self, journal: Journal, lease: Lease | None) -> None:
        with self._given_back_on_failure(journal.id, lease):
            if lease is not None and journal.is_whole:
                await repair(journal)
            self._check_alive()
        session = self._cast.sit_down(journal, lease)
        previous, self._session = self._session, session
        if previous is not None:
            previous.leave()
            closing = asyncio.ensure_future(self._close(previous))
            self._leaving[closing] = previous
            closing.add_done_callback(self._leaving.pop)
        self._events.change(ConversationOpened(journal.id))
        self._events.change(EntriesReplaced())
        self._events.change(ReadOnlyChanged(session.read_only))
        if not journal.is_whole:
            session.reading = self._spawn(self._complete(session))
        if session.read_only:
            self._spawn(self._watch(session))
        else:
            session.starting = self._spawn(self._start_agents(session))

    async def _complete(self, session: Session) -> None:
        """Brings the older entries of a long conversation; goes on trying while it is open."""
        journal = session.journal
        while not journal.is_whole and not session.left:
            try:
                await self._conversations.complete(journal)
            except StorageError as error:
                self._saver.suspend(error)
                await self._environment.clock.sleep(LOCK_POLL)

    async def _start_agents(self, session: Session) -> None:
        """Starts the agents while the user reads; the first send waits for it."""
        async with session.gate:
            try:
                if session.reading is not None:
                    await asyncio.wait([session.reading])
                    if not session.left:
                        await repair(session.journal)
                if not session.left:
                    await catch_up(session)
                    for seat in session.seats.values():
                        await seat.keep_up()
            except PersonaeError as error:
                self._events.emit("error", error)
            finally:
                session.room.display.show("idle")

    async def _watch(self, session: Session) -> None:
        """Takes the conversation over when the other tab has closed it."""
        name = self._name(session.journal.id)
        while not session.left:
            await self._environment.clock.sleep(LOCK_POLL)
            async with self._one_opens:
                lease = None if session.left else await ask_for(self._environment.lock, name)
                if lease is None:
                    continue
                try:
                    await self._load(session.journal.id, lease)
                    return
                except PersonaeError as error:
                    self._events.emit("error", error)

    async def _close(self, session: Session) -> None:
        async with session.gate:
            await session.close()
        if session.lease is not None:
            self._saver.give_back(self._name(session.journal.id), session.lease)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


def disposed() -> UsageError:
    return UsageError("disposed", "This player was disposed of. Make a new one.")


async def repair(journal: Journal) -> None:
    """Answers the calls that a killed tab left without a result."""
    for entry, call in open_calls(journal.entries):
        if entry.rejected:
            continue
        journal.append(
            "tool",
            INTERRUPTED,
            tool_call_id=call.id,
            number=call.number,
            ok=False,
            state="cut",
            member=entry.member,
            reply_to=entry.reply_to,
        )
    await journal.save()
