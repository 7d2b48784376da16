"""``CharacterPlayer``: what consumers see (reference: Part 3, Character Consumers).

Thin: each method names what it does and hands over. Methods that change the conversation wait for
each other; a second response while one is under way is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Literal

from personae.conversation import edits, forks
from personae.conversation.changes import TurnState
from personae.conversation.entries import Entry
from personae.conversation.turns import newest_response
from personae.conversation.undo import cannot_undo
from personae.errors import StorageError, UsageError
from personae.package.model import Package, Problem
from personae.package.sources import Source
from personae.package.steps import Progress, run_async
from personae.player import views
from personae.player.composition import Loaded, set_up
from personae.player.editing import answer, answer_again, catch_up, revise, undo
from personae.player.environment import Environment
from personae.player.exchange import respond, run_exchange
from personae.player.gate import check_free, gate
from personae.player.open_conversation import disposed
from personae.player.session import Session
from personae.player.undoing import Deed
from personae.settings import Settings
from personae.storage.journal import Journal
from personae.storage.snapshot import Snapshot
from personae.storage.transfer import conversation_file
from personae.turn import commands
from personae.turn.events import Events, Listener
from personae.turn.seat import Seat

LOADING = TurnState("loading")


class CharacterPlayer:
    """Plays one character. ``package``: a Package, a zip's URL or bytes, a folder's URL (ending
    in ``/``, serving ``files.json``) or ``{"files": {path: text or bytes}}``.

    ``environment``: where it runs; None means this browser with ``storage`` ("indexeddb" or
    "memory"). ``character_id``: what conversations are filed under; None: the link, or the
    contents. ``progress`` hears how loading goes. ``settings``: see ``settings.Settings``.
    """

    def __init__(
        self,
        package: Source,
        *,
        environment: Environment | None = None,
        storage: Literal["indexeddb", "memory"] = "indexeddb",
        character_id: str | None = None,
        progress: Progress | None = None,
        **settings: Any,
    ) -> None:
        self.events = Events()
        self.settings = Settings().changed(settings)
        self._source = package
        self._environment = environment
        if storage not in ("indexeddb", "memory"):
            raise UsageError("bad_setting", f"storage is 'indexeddb' or 'memory', not {storage!r}.")
        self._storage: Literal["indexeddb", "memory"] = storage
        self._character_id = character_id
        self._progress = progress
        self._loading: asyncio.Task[None] | None = None
        self._loaded: Loaded | None = None
        self._disposed = False

    async def ready(self, *, whole: bool = True) -> None:
        """Loads the package and opens the newest conversation or a new one. Raises PackageError.

        With ``whole=False`` it returns when the last entries are there; a "change" event tells when
        all are. What changes the conversation waits for that in any case.
        """
        self._check_alive()
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.ensure_future(self._load())
        await asyncio.wait([self._loading])
        self._check_alive()
        self._loading.result()
        if whole:
            await self._ready.current.whole()

    def on(self, event: str, listener: Listener) -> Callable[[], None]:
        """Subscribes to an event; the result unsubscribes."""
        return self.events.on(event, listener)

    async def send(self, text: str) -> dict[str, Any]:
        """The character's answer: ``{role, content, stopped?}``. Raises ModelError, UsageError.

        A caller that is cancelled stops the response; what was streamed stays.
        """
        if not text.strip():
            raise UsageError("empty_message", "There is nothing to send.")

        async def say(session: Session) -> dict[str, Any]:
            said = session.journal.append("user", text)
            await session.journal.save()
            return await run_exchange(session, [session.first_seat], said)

        return await self._respond(say)

    async def regenerate(self, *, deed: Deed | None = None) -> dict[str, Any]:
        """Answers the last user message again, in the place of the newest response.

        That one stays when not a word comes. ``deed`` here and below: filled for ``undo``.
        """

        async def again(session: Session) -> dict[str, Any]:
            entries = session.journal.entries
            edit, replaced = edits.regenerate(entries), _newest(entries)
            return await answer_again(
                session, edit, deed or Deed(), regenerate=True, replaced=replaced
            )

        return await self._respond(again)

    async def resubmit(
        self, entry_id: str, text: str | None = None, *, deed: Deed | None = None
    ) -> dict[str, Any]:
        """Sends a user message again, with ``text`` instead if given; what followed is removed."""

        async def again(session: Session) -> dict[str, Any]:
            edit = edits.resubmit(session.journal.entries, entry_id, text)
            return await answer_again(session, edit, deed or Deed(), regenerate=not edit.changed)

        return await self._respond(again)

    async def continue_(self) -> dict[str, Any]:
        """Lets the character go on where it stopped: its response gets another part."""

        async def go_on(session: Session) -> dict[str, Any]:
            return await answer(session, _newest(session.journal.entries))

        return await self._respond(go_on)

    async def edit(self, entry_id: str, text: str, *, deed: Deed | None = None) -> None:
        """Replaces what a message says."""
        await self._edit(lambda entries: edits.change_text(entries, entry_id, text), deed)

    async def delete(self, entry_id: str, *, deed: Deed | None = None) -> None:
        """Removes a user message, an audit entry, or a whole response."""
        await self._edit(lambda entries: edits.delete(entries, entry_id), deed)

    async def truncate(self, entry_id: str, *, deed: Deed | None = None) -> None:
        """Removes everything after an entry."""
        await self._edit(lambda entries: edits.truncate(entries, entry_id), deed)

    async def reject(self, entry_id: str, *, deed: Deed | None = None) -> None:
        """Marks a response as unacceptable: it stays visible and is never sent again."""
        await self._edit(lambda entries: edits.reject(entries, entry_id), deed)

    async def clear(self, *, deed: Deed | None = None) -> None:
        """Removes all entries; stores and counters stay."""
        await self._edit(edits.clear, deed)

    async def undo(self, deed: Deed) -> None:
        """Undoes an edit of the open conversation, and nothing that happened since.

        Waits for the end of what is under way. Raises UsageError ``cannot_undo`` where it is not
        possible any more.
        """
        self._check_alive()
        session = self._session
        session.check_writable()
        if deed.before is None or deed.before.head.id != session.journal.id:
            raise cannot_undo("It was done in another conversation.")
        async with gate(session):
            await undo(session, deed)

    async def fork(self, entry_id: str) -> str:
        """Opens a new conversation with the entries up to this one; its id."""
        self._check_alive()
        session = self._session
        async with gate(session):
            edit = forks.fork(session.journal.entries, entry_id)
            told = session.told_of_edits()
            forked = await self._ready.conversations.fork(session.journal, edit, told)
        await self._ready.current.open(forked)
        self._session.room.user_acted = True
        starting = self._session.starting
        if starting is not None:
            await asyncio.wait([starting])
        return forked

    def list_commands(self) -> list[dict[str, str]]:
        """``[{name, agentId, description}]``."""
        return commands.listed(self._seat.registry)

    async def run_command(self, name: str, args: str = "") -> str | None:
        """Runs a command; a string is the agent's reason to refuse the input. Raises AgentError."""
        session = self._writable()
        async with gate(session):
            return await commands.run(session.first_seat, name, args)

    def stop(self) -> None:
        """Stops what is under way and keeps what there is; harmless when nothing is."""
        if self._has_session:
            self._session.room.stopping.stop()

    async def new_conversation(self) -> str:
        """Opens a new conversation; its id."""
        self._check_alive()
        return await self._ready.current.open_new()

    async def load_conversation(self, conversation_id: str, *, whole: bool = True) -> None:
        """Opens a stored conversation; ``whole`` as for ``ready``.

        Raises UsageError ``unknown_conversation``.
        """
        self._check_alive()
        if conversation_id != self.conversation_id:
            await self._ready.current.open(conversation_id)
        if whole:
            await self._ready.current.whole()

    async def list_conversations(self) -> list[dict[str, Any]]:
        """``[{id, title, createdAt, updatedAt}]``, the one that changed last first.

        While storage cannot be read, the open one and those that are in memory only.
        """
        current = self._session.journal.head
        try:
            return views.conversation_list(await self._ready.conversations.heads(), current)
        except StorageError as error:
            self._ready.saver.suspend(error)
            unstored = self._ready.conversations.unstored_heads()
            return views.conversation_list(unstored, current)

    async def delete_conversation(self, conversation_id: str) -> None:
        """Deletes a conversation; the open one is replaced by the newest other."""
        self._check_alive()
        await self._ready.current.delete(conversation_id)

    async def rename_conversation(self, conversation_id: str, title: str) -> None:
        self._check_alive()
        await self._ready.current.rename(conversation_id, title)

    def get_conversation(self) -> list[dict[str, Any]]:
        """Copies of the messages: ``{id, index, role, content}``, marks where they are set."""
        return views.conversation(self._session.journal.entries)

    async def export_conversation(self, conversation_id: str | None = None) -> dict[str, Any]:
        """A conversation as JSON, the open one by default; works while storage does not."""
        journal = await self._whole(conversation_id)
        return conversation_file.export_conversation(journal, self.package.name)

    async def import_conversation(self, data: Any) -> str:
        """Stores an exported conversation as a new one; its id."""
        self._check_alive()
        found = await run_async(conversation_file.import_conversation(data))
        return await self._ready.conversations.copy(found)

    async def snapshot(self, conversation_id: str | None = None) -> Snapshot:
        """All of a conversation as it is now, the open one by default, for ``restore``."""
        return (await self._whole(conversation_id)).snapshot()

    async def restore(self, snapshot: Snapshot, title: str | None = None) -> str:
        """Stores what ``snapshot`` gave as a new conversation, with a title of its own; its id."""
        self._check_alive()
        changes: dict[str, Any] = {} if title is None else {"title": title, "named": True}
        return await self._ready.conversations.copy(snapshot, **changes)

    async def bring_back(self, snapshot: Snapshot) -> None:
        """Stores a conversation that was deleted as it was. Raises UsageError ``cannot_undo``."""
        self._check_alive()
        await self._ready.conversations.bring_back(snapshot)

    def export_default_data(self) -> dict[str, str]:
        """``{"<agentId>.agent.json": text}`` of the open conversation's stores."""
        return conversation_file.default_data(self._session.journal)

    def agents(self) -> list[dict[str, Any]]:
        """What is known of each agent, private ones of sub-agents included."""
        return views.agents(self._seat)

    async def agent_store(self, agent_id: str) -> Any:
        """A copy of an agent's store.

        Raises UsageError ``unknown_agent``, BridgeError ``store_unreadable``.
        """
        return self._seat.agents.store(views.find_agent(self._seat, agent_id))

    def agent_log(self, agent_id: str) -> list[dict[str, Any]]:
        """What the agent did, see ``activity_log.ActivityLog``."""
        program = views.find_agent(self._seat, agent_id)
        return self._seat.room.log.lines(self._seat.belongings.owner(program.agent_id))

    async def prompt_preview(self) -> dict[str, Any]:
        """``{messages, tools, tokens}`` of the next request; tokens are an estimate."""
        session = self._session
        if not session.read_only and not session.answering:
            async with gate(session):
                await catch_up(session)
        return views.prompt_preview(session.first_seat)

    def configure(self, **changes: Any) -> None:
        """Changes settings; the next request uses them. Raises UsageError."""
        self.settings = self.settings.changed(changes)

    async def dispose(self) -> None:
        """Stops, saves and ends everything; the player cannot be used afterwards."""
        if self._disposed:
            return
        self._disposed = True
        if self._loading is not None and not self._loading.done():
            self._loading.cancel()
            await asyncio.wait([self._loading])
        if self._loaded is not None:
            await self._loaded.close()
        self.events.clear()

    @property
    def package(self) -> Package:
        return self._ready.package

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What is odd about the package: the loader's findings and names registered twice."""
        return (*self.package.warnings, *self._ready.registry.warnings)

    @property
    def entries(self) -> list[Entry]:
        """The open conversation, not a copy; empty while loading."""
        return self._session.journal.entries if self._has_session else []

    @property
    def conversation_id(self) -> str:
        return self._session.journal.id

    @property
    def character_id(self) -> str:
        return self._ready.conversations.character_id

    @property
    def read_only(self) -> bool:
        """Whether another tab holds this conversation."""
        return self._has_session and self._session.read_only

    @property
    def answering(self) -> bool:
        """Whether a response is under way, be it that it waits for its turn."""
        return self._has_session and self._session.answering

    @property
    def turn(self) -> TurnState:
        """What the turn is doing; see the ``change`` event."""
        return self._session.room.display.turn if self._has_session else LOADING

    async def _load(self) -> None:
        environment = self._environment or await _browser(self._storage)
        self._loaded = await set_up(
            self._source,
            environment,
            self.events,
            lambda: self.settings,
            self._character_id,
            self._progress,
        )
        await self._loaded.current.open_newest()

    @property
    def _ready(self) -> Loaded:
        if self._loaded is None:
            raise UsageError("not_ready", "The player is not ready yet: await ready() first.")
        return self._loaded

    @property
    def _has_session(self) -> bool:
        return self._loaded is not None and self._loaded.current.has_session

    @property
    def _session(self) -> Session:
        return self._ready.current.session

    @property
    def _seat(self) -> Seat:
        return self._session.first_seat

    async def _respond(
        self, work: Callable[[Session], Awaitable[dict[str, Any]]]
    ) -> dict[str, Any]:
        self._check_alive()
        return await respond(self._session, work)

    async def _edit(
        self, make: Callable[[list[Entry]], edits.Edit], deed: Deed | None = None
    ) -> None:
        session, deed = self._writable(), deed or Deed()
        async with gate(session):
            try:
                await revise(session, make(session.journal.entries), deed)
            finally:
                deed.end(session.journal)

    async def _whole(self, conversation_id: str | None) -> Journal:
        """A conversation with all its entries, the open one by default."""
        opened = self._session.journal
        if conversation_id in (None, opened.id):
            await self._ready.current.whole()
            if opened.is_whole:
                return opened
            conversation_id = opened.id  # it was left before all of it was there
        journal = await self._ready.conversations.load(str(conversation_id))
        await self._ready.conversations.complete(journal)
        return journal

    def _writable(self) -> Session:
        """The open session, which the user changes. Raises UsageError."""
        self._check_alive()
        session = self._session
        check_free(session)
        session.room.user_acted = True
        return session

    def _check_alive(self) -> None:
        if self._disposed:
            raise disposed()


def _newest(entries: list[Entry]) -> Entry | None:
    """An entry of the newest response, if there is one after the last message."""
    index = newest_response(entries)
    return None if index is None else entries[index]


async def _browser(storage: Literal["indexeddb", "memory"]) -> Environment:
    from personae.browser.environment import embedded_environment

    return await embedded_environment(storage)
