"""One character on stage: the player, and everything in the page that follows it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from personae.conversation.changes import (
    AgentsChanged,
    AnsweringChanged,
    Change,
    ConversationOpened,
    EntriesReplaced,
    EntryAdded,
    EntryRemoved,
    EntryUpdated,
    ReadOnlyChanged,
    TurnChanged,
    TurnState,
)
from personae.conversation.entries import Entry
from personae.conversation.turns import ASIDE
from personae.errors import AgentError, PersonaeError, UsageError
from personae.package.declarations import declared
from personae.package.model import Package
from personae.player.character_player import CharacterPlayer
from personae.player.environment import Environment
from personae.ui.conversations.matches import newest_match
from personae.ui.dom.elements import by_id, mark, show
from personae.ui.notices.advice import advise
from personae.ui.notices.announcer import announce
from personae.ui.page import Page
from personae.ui.settings.app_settings import Settings
from personae.ui.transcript.undo import TOPIC

READ_ONLY = "This conversation is open in another tab. Close it there to go on here."

Reply = dict[str, Any]
Retry = Callable[[], None]


class Chat:
    """Owns the player. Opening another character disposes of the one before.

    ``ready`` is awaited before a response is asked for.
    """

    def __init__(
        self, environment: Environment, page: Page, ready: Callable[[], Awaitable[None]]
    ) -> None:
        self._environment, self._page, self._ready = environment, page, ready
        self._player: CharacterPlayer | None = None
        self._package: Package | None = None
        self.character_id = ""
        """Empty while nobody is on stage."""
        self._unsubscribe: list[Callable[[], None]] = []
        self._error_shown: BaseException | None = None
        self._fresh = False
        """Another conversation was opened and is yet to be drawn."""
        self._failure = ""
        """Why the last message has no answer, as far as this page knows."""

    @property
    def on_stage(self) -> bool:
        """Whether there is a character to talk to."""
        return self._player is not None

    @property
    def player(self) -> CharacterPlayer:
        """The player of the character on stage. Raises UsageError ``no_character``."""
        if self._player is None:
            raise _nobody()
        return self._player

    @property
    def package(self) -> Package:
        """The character on stage. Raises UsageError ``no_character``."""
        if self._package is None:
            raise _nobody()
        return self._package

    @property
    def entries(self) -> list[Entry]:
        """The open conversation; empty while nobody is on stage."""
        return [] if self._player is None else self._player.entries

    @property
    def answering(self) -> bool:
        """Whether a response is under way."""
        return self._player is not None and self._player.answering

    @property
    def name(self) -> str:
        """The character's name; empty while nobody is on stage."""
        return "" if self._package is None else self._package.name

    @property
    def asks_for_web(self) -> bool:
        """Whether an agent of the character declares that it reads web pages."""
        return self._package is not None and any(
            "studio.web" in agent.manifest.apis for agent in self._package.agents
        )

    async def open(self, package: Package, character_id: str, settings: Settings) -> None:
        """Puts a character on stage, in its newest conversation."""
        await self.close()
        player = CharacterPlayer(
            package,
            character_id=character_id,
            environment=self._environment,
            **settings.player_options(character_id, declared(package)),
        )
        self._player, self._package, self.character_id = player, package, character_id
        self._unsubscribe += [
            player.on("change", self._changed),
            player.on("error", self._failed),
            player.on("agentToast", self._show_toast),
        ]
        await player.ready(whole=False)
        page = self._page
        page.sidebar.set_character(package.name, package.description)
        page.composer.set_placeholder(f"Message {package.name}")
        page.shell.set_title(package.name)
        page.shell.enable_chat_actions(True)
        page.shell.set_screen("chat")
        page.inspector.attach(player)
        self._show_turn()
        page.composer.focus()

    async def close(self) -> None:
        if self._player is None:
            return
        player, self._player, self._package, self.character_id = self._player, None, None, ""
        for off in self._unsubscribe:
            off()
        self._unsubscribe.clear()
        self._page.inspector.attach(None)
        self._page.composer.show_draft("")
        self._page.banners.clear("turn")
        self._page.toasts.clear(TOPIC)
        self._page.composer.set_state(enabled=False, busy=False)
        self._page.status.clear()
        await player.dispose()

    # What the user does

    def send(self, text: str) -> None:
        self._page.transcript.expect(text)
        self._start(self._send(text), self.answer_again)

    async def _send(self, text: str) -> Reply:
        try:
            return await self.player.send(text)
        except PersonaeError:
            self._page.transcript.expect("")
            self._page.composer.give_back()
            raise

    def stop(self) -> None:
        if self._player is not None:
            self._player.stop()

    def respond(self, work: Awaitable[Reply]) -> None:
        """Runs a player call that brings a response (regenerate, continue, resubmit)."""
        self._page.transcript.pin()
        self._start(work, self.answer_again)

    def _start(self, work: Awaitable[Reply], retry: Retry) -> None:
        self._page.banners.clear("turn")
        self._failure = ""
        self._page.tasks.start(self._guard(work, retry))

    async def _guard(self, work: Awaitable[Reply], retry: Retry) -> None:
        await self._ready()
        try:
            reply = await work
        except PersonaeError as error:
            self._show_error(error, retry)
        else:
            if reply.get("content"):
                announce(f"{self.name}: {reply['content']}")

    def answer_again(self) -> None:
        """Asks once more for an answer that did not come."""
        if not self.answering:
            self.respond(self.player.regenerate())

    async def new_conversation(self) -> None:
        self._page.shell.close_sidebar()
        if self.entries:
            await self.player.new_conversation()
        self._page.shell.set_screen("chat")
        self._page.composer.focus()

    async def open_conversation(self, conversation_id: str) -> None:
        self._page.shell.close_sidebar()
        await self.player.load_conversation(conversation_id, whole=False)
        self._page.shell.set_screen("chat")
        self._page.composer.focus()

    async def refresh_list(self) -> None:
        """Lists the conversations as they are now."""
        player = self._player
        if player is None:
            return
        conversations = await player.list_conversations()
        if player is self._player:
            now = self._environment.clock.now()
            self._page.sidebar.set_conversations(conversations, player.conversation_id, now)

    # What the player tells

    def _changed(self, change: Change) -> None:
        frames = self._page.frames
        match change:
            case EntryAdded(entry) | EntryUpdated(entry) | EntryRemoved(entry):
                if self.answering and (entry.tool_calls or entry.role == "tool"):
                    # An agent is about to be called, or the model: drawing can be done meanwhile.
                    frames.hold()
                self._entry_changed(change)
            case ConversationOpened(conversation_id):
                self._fresh = True
                self._page.composer.show_draft(conversation_id)
                self._page.banners.clear("turn")
                self._failure = ""
                frames.schedule("entries", self._show_entries)
            case EntriesReplaced():
                self._page.banners.clear("turn", below=False)  # it was about what is gone
                frames.schedule("entries", self._show_entries)
            case TurnChanged() | AnsweringChanged() | ReadOnlyChanged():
                frames.schedule("turn", self._show_turn)
                frames.release()
            case AgentsChanged():
                frames.schedule("agents", self._page.inspector.refresh)

    def _entry_changed(self, change: EntryAdded | EntryUpdated | EntryRemoved) -> None:
        frames, transcript = self._page.frames, self._page.transcript
        match change:
            case EntryUpdated(entry):
                transcript.update(entry)
            case EntryRemoved():
                frames.schedule("entries", self._show_entries)
            case EntryAdded(entry):
                transcript.add(entry)
                if entry.role == "user":
                    self._page.composer.became_message()
                if entry.role in ("user", "assistant"):
                    frames.schedule("conversations", self._refresh_soon)
                    frames.schedule("turn", self._show_turn)

    def _show_toast(self, text: str, who: dict[str, str]) -> None:
        self._page.toasts.show(text, agent=who["agentId"], character=who["characterName"])

    def _failed(self, error: BaseException) -> None:
        if error is not self._error_shown and getattr(error, "code", "") not in ("stopped", "busy"):
            self._show_error(error, None)

    def _show_error(self, error: BaseException, retry: Retry | None) -> None:
        self._error_shown = error
        agent = error.detail.get("agentId") if isinstance(error, AgentError) else None
        topic = f"turn/{agent}" if agent else "turn"
        self._page.banners.show_error(error, topic=topic, retry=retry)
        if not agent:
            self._failure = advise(error).title
            self._page.frames.schedule("turn", self._show_turn)

    def _show_entries(self) -> None:
        if self._player is None:
            return
        package, entries = self.package, self.entries
        transcript, query = self._page.transcript, self._page.sidebar.query
        if self._fresh:
            transcript.open(package.name, package.description, package.intro, entries)
            if query:
                transcript.reveal(newest_match(entries, query))
        else:
            self._page.tasks.start(transcript.reset(entries))
        self._fresh = False
        self._show_turn()
        self._refresh_soon()

    def _show_turn(self) -> None:
        player, page = self._player, self._page
        if player is None:
            return
        # While agents get ready or take note, sending waits for them inside the player.
        page.composer.set_state(enabled=not player.read_only, busy=player.answering)
        page.status.show(player.turn, self.name, answering=player.answering)
        page.transcript.set_streaming(player.answering)
        page.transcript.set_waiting(_is_reply_due(player.turn, player.entries))
        page.transcript.set_unanswered(
            "" if player.read_only or player.answering else self._unanswered(player)
        )
        mark(by_id("transcript"), "read-only", player.read_only)
        notice = by_id("composer-notice")
        show(notice, player.read_only)
        notice.textContent = READ_ONLY if player.read_only else ""

    def _unanswered(self, player: CharacterPlayer) -> str:
        """What is said under the last message while it has no answer; empty when it has one."""
        if not player.entries or _last_spoken(player.entries) != "user":
            return ""
        return f"Not answered: {self._failure}" if self._failure else "Not answered."

    def _refresh_soon(self) -> None:
        self._page.tasks.start(self.refresh_list())


def _nobody() -> UsageError:
    return UsageError("no_character", "Open the character first, then its conversation.")


def _is_reply_due(turn: TurnState, entries: list[Entry]) -> bool:
    """Whether a reply is due that has no entry yet."""
    if turn.state not in ("preload", "hooks", "waiting", "retrying"):
        return False
    return _last_spoken(entries) in ("user", "tool")


def _last_spoken(entries: list[Entry]) -> str:
    """The role of the last entry that stands and is no log; empty when there is none."""
    spoken = (e.role for e in reversed(entries) if e.role not in ASIDE and not e.rejected)
    return next(spoken, "")
