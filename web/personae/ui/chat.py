"""One character on stage: the player, and everything in the page that follows it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from personae.errors import AgentError, PersonaeError
from personae.package.model import Package
from personae.player.environment import Environment
from personae.ui.composer.status import turn_text
from personae.ui.conversations.content_search import ContentSearch, newest_hit
from personae.ui.dom.notices import announce
from personae.ui.dom.page_dom import by_id, mark, show
from personae.ui.page import Page
from personae.ui.settings.app_settings import Settings

READ_ONLY = "This conversation is open in another tab. Close it there to go on here."

SEARCH_PAUSE = 250
"""Milliseconds without typing before what was said is searched."""


class Chat:
    """Owns the player. Opening another character disposes of the one before."""

    def __init__(self, environment: Environment, page: Page) -> None:
        self._environment, self._page = environment, page
        self._search = ContentSearch(environment.storage)
        self.player: Any = None
        self.character_id = ""
        self._unsubscribe: list[Callable[[], None]] = []
        self._error_shown: BaseException | None = None
        self._entered: tuple[tuple[str, str], float] = ("", ""), 0.0
        """The state of the turn, and when it was entered."""
        self._counting = False
        self._fresh = False
        """Another conversation was opened and is yet to be drawn."""

    @property
    def package(self) -> Package:
        package: Package = self.player.package
        return package

    @property
    def answering(self) -> bool:
        """Whether a response is under way."""
        return self.player is not None and self.player.answering

    @property
    def name(self) -> str:
        """The character's name; empty while nobody is on stage."""
        return "" if self.player is None else self.package.name

    @property
    def asks_for_web(self) -> bool:
        """Whether an agent of the character declares that it reads web pages."""
        return self.player is not None and any(
            "studio.web" in agent.manifest.apis for agent in self.package.agents
        )

    async def open(self, package: Package, character_id: str, settings: Settings) -> None:
        """Puts a character on stage, in its newest conversation."""
        from personae import CharacterPlayer

        await self.close()
        player = CharacterPlayer(
            package,
            character_id=character_id,
            environment=self._environment,
            **settings.player_options(character_id),
        )
        self.player, self.character_id = player, character_id
        for event, listener in (
            ("change", self._changed),
            ("error", self._failed),
            ("agentToast", self._show_toast),
        ):
            self._unsubscribe.append(player.on(event, listener))
        await player.ready(whole=False)
        self._page.sidebar.set_character(package.name, package.description)
        self._page.composer.set_placeholder(f"Message {package.name}")
        self._page.shell.set_title(package.name)
        self._page.shell.enable_chat_actions(True)
        self._page.shell.set_view("chat")
        self._page.inspector.attach(player)
        self._show_turn()
        self._page.composer.focus()

    async def close(self) -> None:
        if self.player is None:
            return
        player, self.player, self.character_id = self.player, None, ""
        for off in self._unsubscribe:
            off()
        self._unsubscribe.clear()
        self._page.inspector.attach(None)
        self._page.banners.clear("turn")
        self._page.composer.set_state(enabled=False, busy=False)
        await player.dispose()

    # What the user does

    def send(self, text: str) -> None:
        self._page.transcript.expect(text)
        self._start(self._send(text), self._answer_again)

    async def _send(self, text: str) -> Any:
        entries = len(self.player.entries)
        try:
            return await self.player.send(text)
        except PersonaeError:
            self._page.transcript.expect("")
            if len(self.player.entries) == entries and not self._page.composer.text:
                self._page.composer.text = text  # it never became a message: nothing typed is lost
            raise

    def stop(self) -> None:
        if self.player is not None:
            self.player.stop()

    def respond(self, work: Any, retry: Callable[[], Any] | None = None) -> None:
        """Runs a player call that brings a response (regenerate, continue, resubmit)."""
        self._page.transcript.pin()
        self._start(work, retry or self._answer_again)

    def _start(self, work: Any, retry: Callable[[], Any]) -> None:
        self._page.banners.clear("turn")
        self._page.tasks.start(self._guard(work, retry))

    async def _guard(self, work: Any, retry: Callable[[], Any]) -> None:
        try:
            reply = await work
        except asyncio.CancelledError:
            raise
        except PersonaeError as error:
            self._show_error(error, retry)
        else:
            if isinstance(reply, dict) and reply.get("content"):
                announce(f"{self.package.name}: {reply['content']}")

    def _answer_again(self) -> None:
        self.respond(self.player.regenerate())

    async def new_conversation(self) -> None:
        self._page.shell.close_sidebar()
        if self.player.entries:
            await self.player.new_conversation()
        self._page.shell.set_view("chat")
        self._page.composer.focus()

    async def open_conversation(self, conversation_id: str) -> None:
        self._page.shell.close_sidebar()
        self._page.banners.clear("turn")
        await self.player.load_conversation(conversation_id, whole=False)
        self._page.shell.set_view("chat")
        self._page.composer.focus()

    async def search(self) -> None:
        """Shows the conversations that hold the query: titles at once, then what was said."""
        sidebar, now = self._page.sidebar, self._environment.clock.now
        query = sidebar.query
        sidebar.set_said(())
        sidebar.draw(now())
        await self._environment.clock.sleep(SEARCH_PAUSE)
        if not query or query != sidebar.query:
            return
        said = await self._search.find(sidebar.conversations, query)
        if query == sidebar.query:
            sidebar.set_said(said)
            sidebar.draw(now())

    # What the player tells

    def _changed(self, change: dict[str, Any]) -> None:
        kind = change["kind"]
        if kind == "entry":
            self._entry_changed(change["entry"], change["how"])
        elif kind in ("conversation", "entries"):
            self._fresh = self._fresh or kind == "conversation"
            self._page.frames.schedule("entries", self._show_entries)
        elif kind in ("turn", "answering", "read_only"):
            self._page.frames.schedule("turn", self._show_turn)
            self._page.frames.release()
        elif kind == "agents":
            self._page.frames.schedule("agents", self._page.inspector.refresh)

    def _entry_changed(self, entry: Any, how: str) -> None:
        if self.answering and (entry.tool_calls or entry.role == "tool"):
            # An agent is about to be called, or the model: drawing can be done while they work.
            self._page.frames.hold()
        if how == "removed":
            self._page.frames.schedule("entries", self._show_entries)
        elif how == "added":
            self._page.transcript.add(entry)
            if entry.role in ("user", "assistant"):
                self._page.frames.schedule("conversations", self._refresh_list)
                self._page.frames.schedule("turn", self._show_turn)
        else:
            self._page.transcript.update(entry)

    def _show_toast(self, text: str, who: dict[str, str]) -> None:
        self._page.toasts.show(text, agent=who["agentId"], character=who["characterName"])

    def _failed(self, error: BaseException) -> None:
        if error is not self._error_shown and getattr(error, "code", "") not in ("stopped", "busy"):
            self._show_error(error, None)

    def _show_error(self, error: BaseException, retry: Callable[[], Any] | None) -> None:
        self._error_shown = error
        agent = error.detail.get("agentId") if isinstance(error, AgentError) else None
        topic = f"turn/{agent}" if agent else "turn"
        self._page.banners.show_error(error, topic=topic, retry=retry)

    def _show_entries(self) -> None:
        if self.player is None:
            return
        package, entries = self.package, self.player.entries
        if self._fresh:
            self._page.transcript.open(package.name, package.description, package.intro, entries)
            if self._page.sidebar.query:
                self._page.transcript.reveal(newest_hit(entries, self._page.sidebar.query))
        else:
            self._page.tasks.start(self._page.transcript.reset(entries))
        self._fresh = False
        self._show_turn()
        self._refresh_list()

    def _show_turn(self) -> None:
        if self.player is None:
            return
        turn = self.player.turn
        answering = self.answering
        read_only = self.player.read_only
        # While agents get ready or take note, sending waits for them inside the player.
        self._page.composer.set_state(enabled=not read_only, busy=answering)
        self._show_status()
        self._page.transcript.set_streaming(answering)
        self._page.transcript.set_waiting(self._is_waiting(turn))
        mark(by_id("transcript"), "read-only", read_only)
        notice = by_id("composer-notice")
        show(notice, read_only)
        notice.textContent = READ_ONLY if read_only else ""

    def _show_status(self) -> None:
        """The status line; counts the seconds of states that may last."""
        if self.player is None:
            return
        turn, now = self.player.turn, self._environment.clock.monotonic()
        if (turn["state"], turn["detail"]) != self._entered[0]:
            self._entered = (turn["state"], turn["detail"]), now
        elapsed = (now - self._entered[1]) / 1000
        self._page.composer.set_status(turn_text(turn, self.package.name, elapsed))
        if self.answering and not self._counting:
            self._counting = True
            self._page.tasks.start(self._count())

    async def _count(self) -> None:
        while self.answering:
            await self._environment.clock.sleep(1000)
            self._show_status()
        self._counting = False

    def _is_waiting(self, turn: dict[str, Any]) -> bool:
        """Whether a reply is due that has no entry yet."""
        if turn["state"] not in ("preload", "hooks", "waiting", "retrying"):
            return False
        spoken = [entry for entry in self.player.entries[-12:] if entry.role != "log"]
        return bool(spoken) and spoken[-1].role in ("user", "tool")

    def _refresh_list(self) -> None:
        if self.player is not None:
            self._page.tasks.start(self.refresh_list())

    async def refresh_list(self) -> None:
        player = self.player
        conversations = await player.list_conversations()
        if player is self.player:
            now = self._environment.clock.now()
            self._page.sidebar.set_conversations(conversations, player.conversation_id, now)
