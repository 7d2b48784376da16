"""The app: makes the views, wires them to each other, and decides what is shown first."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from typing import Any

import js

from personae.errors import PersonaeError, StorageError
from personae.package.declarations import declared
from personae.player.environment import Environment
from personae.ports import Caution, Note, Notice, StorageFails, StorageWorks
from personae.storage.content_search import ContentSearch
from personae.storage.drafts import Drafts
from personae.storage.library import Library
from personae.ui.chat import Chat
from personae.ui.composer.composer import Composer
from personae.ui.composer.status_line import StatusLine
from personae.ui.conversations.conversation_menu import ConversationMenu
from personae.ui.conversations.search import ConversationSearch
from personae.ui.conversations.sidebar import Sidebar
from personae.ui.dom import markdown
from personae.ui.dom.ask import Asker
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.files import copy_text
from personae.ui.dom.frames import Frames
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.menu import Menus
from personae.ui.dom.tasks import Tasks
from personae.ui.dom.templates import load_templates
from personae.ui.inspector.inspector import Inspector
from personae.ui.keyboard.actions import ShortcutActions
from personae.ui.keyboard.keyboard import Keyboard, is_mac
from personae.ui.notices.advice import Advice
from personae.ui.notices.banners import Banners
from personae.ui.notices.notifier import UiNotifier
from personae.ui.notices.toasts import Toasts
from personae.ui.page import Page
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.current_settings import CurrentSettings
from personae.ui.settings.default_model import HostModel
from personae.ui.settings.web_grants import WebGrants
from personae.ui.shell import Shell, relay_url
from personae.ui.start.character_loading import CharacterLoading
from personae.ui.start.file_kinds import file_kind, not_taken
from personae.ui.start.library_menu import LibraryMenu
from personae.ui.start.start_screen import StartScreen
from personae.ui.transcript.editing import Editing
from personae.ui.transcript.transcript import Transcript

SETTLED = 3_000
"""Milliseconds after the start in which the network and the processor belong to the user."""


class App:
    """``await App(environment, notifier, host).start()`` returns when the page can be used."""

    def __init__(
        self, environment: Environment, notifier: UiNotifier, host: dict[str, Any]
    ) -> None:
        """``notifier``: the environment's; ``host``: what it offers."""
        self._environment, self._notifier, self._host = environment, notifier, host
        self._drafts = Drafts(environment.saver)
        self._page = page = self._make_page()
        offered = HostModel(relay_url(host), str(host.get("relayModel") or ""))
        self._settings = CurrentSettings(environment, page.tasks, self.report, offered)
        self._chat = chat = Chat(environment, page, self._choose_model)
        self._asker = asker = Asker(page.dispatcher)
        self._library = library = Library(
            environment.storage, environment.clock, environment.lock, environment.install
        )
        grants = WebGrants(chat, asker, lambda: self._settings.value, self._change_settings)
        self._loading = loading = CharacterLoading(
            page,
            chat,
            library,
            StartScreen(host, environment.clock.now),
            environment.fetch_package,
            lambda: self._settings.value,
            self.report,
            grants,
            asker,
        )
        self._library_menu = LibraryMenu(page, library, loading, asker)
        self._editing = Editing(page, chat)
        self._conversation_menu = ConversationMenu(page, chat, asker, self._editing.clear)
        self._search = ConversationSearch(
            page.sidebar, ContentSearch(environment.saver), environment.clock
        )
        actions = ShortcutActions(
            page,
            chat,
            self._editing,
            loading,
            settings=self.open_settings,
            help=self._open_help,
            palette=self._open_palette,
        )
        self._keyboard = Keyboard(actions.do, is_mac())
        self._dialogs: dict[str, Any] = {}
        self._keeping = False
        self._listeners = Listeners()

    def _make_page(self) -> Page:
        tasks, frames = Tasks(self.report), Frames(self.report)
        dispatcher = Dispatcher(tasks, self.report)
        toasts = Toasts(dispatcher)
        return Page(
            tasks=tasks,
            frames=frames,
            dispatcher=dispatcher,
            toasts=toasts,
            banners=Banners(dispatcher, self.open_settings),
            menus=Menus(tasks),
            shell=Shell(dispatcher, self._take_file),
            sidebar=Sidebar(),
            composer=Composer(
                dispatcher,
                self._send,
                lambda: self._open_palette(typed=True),
                self._recall,
                self._drafts,
                self._take_file,
            ),
            status=StatusLine(self._environment.clock, tasks),
            transcript=Transcript(frames),
            inspector=Inspector(dispatcher, tasks, toasts),
        )

    async def start(self) -> None:
        await asyncio.gather(
            load_templates("chat"), markdown.prepare(), self._settings.load(), self._drafts.load()
        )
        self._notifier.attach(self._notify)
        self._show_model()
        self._register()
        self._listeners.on(js.window, "beforeunload", self._leaving)
        await self._loading.open_first()
        self._page.tasks.start(self._once_settled())

    async def _once_settled(self) -> None:
        """What may wait: looking for updates, and for what a killed tab has left."""
        from personae.ui.updates import Updates

        await self._environment.clock.sleep(SETTLED)
        self._updates = Updates(self._page.toasts, lambda: self._chat.answering)
        await self._updates.start()
        with suppress(StorageError):
            await self._library.tidy()

    def report(self, error: BaseException) -> None:
        """Shows an error that nobody expected where it happened."""
        if isinstance(error, StorageError) and error.code.startswith("storage_"):
            # The one banner for storage, which goes away by itself when storage works again.
            self._environment.saver.suspend(error)
            return
        if not isinstance(error, PersonaeError):
            import traceback

            traceback.print_exception(error)
        self._page.banners.show_error(error)

    def _register(self) -> None:
        on = self._page.dispatcher.on
        on("action", "stop", lambda *_: self._chat.stop())
        on("action", "answer-again", lambda *_: self._chat.answer_again())
        on("action", "new-conversation", lambda *_: self._chat.new_conversation())
        on("action", "open-conversation", self._open_conversation)
        on("action", "jump-to-end", lambda *_: self._page.transcript.pin())
        on("action", "open-settings", lambda *_: self.open_settings())
        on("action", "open-palette", lambda *_: self._open_palette())
        on("action", "open-help", lambda *_: self._open_help())
        on("action", "close-dialog", lambda element, _: element.closest("dialog").close())
        on("action", "copy-code", self._copy_code)
        on("action", "load-image", lambda element, _: markdown.module().loadImage(element))
        on("input", "conversation-search", lambda *_: self._search.run())

    async def _storage_works_again(self) -> None:
        """Shows what could not be read before."""
        await self._chat.refresh_list()
        if self._page.shell.screen == "start":
            await self._loading.show_start()

    def _leaving(self, event: Any) -> None:
        """Lets the browser ask before it closes a tab that holds what is not stored."""
        if self._environment.saver.fault is not None:
            event.preventDefault()

    def _notify(self, notice: Notice) -> None:
        match notice:
            case Note(text):
                self._page.toasts.show(text)
            case Caution(text):
                self._page.toasts.show(text, seconds=8)
            case StorageFails(text):
                self._page.banners.show(Advice(text), topic="storage", quiet=True)
            case StorageWorks():
                self._page.banners.clear("storage")
                self._page.tasks.start(self._storage_works_again())

    def _send(self, text: str) -> None:
        self._chat.send(text)
        if not self._keeping:
            self._keeping = True
            self._page.tasks.start(self._keep_data())

    def _recall(self) -> bool:
        return self._editing.edit_last_own()

    async def _keep_data(self) -> None:
        """Asks the browser to keep the data, now that there is something to keep."""
        from personae.ui.settings.storage_panel import ask_to_persist

        await ask_to_persist()

    def _take_file(self, file: Any) -> None:
        """A file that was dropped or pasted: a conversation, a package, or nothing to use here."""
        kind = file_kind(str(file.name), str(file.type))
        if kind == "conversation":
            self._page.tasks.start(self._conversation_menu.import_file(file))
        elif kind == "package":
            self._page.tasks.start(self._loading.open_file(file))
        else:
            self._page.toasts.show(not_taken(str(file.name), str(file.type)), seconds=8)

    def _open_conversation(self, element: Any, _event: Any) -> Any:
        return self._chat.open_conversation(str(element.closest("[data-id]").dataset.id))

    def _copy_code(self, element: Any, _event: Any) -> Any:
        return copy_text(str(element.closest("figure").querySelector("code").textContent), element)

    # Settings

    def open_settings(self) -> Any:
        return self._page.tasks.start(self._show_settings())

    async def _show_settings(self) -> None:
        from personae.ui.settings.settings_dialog import SettingsDialog
        from personae.ui.settings.storage_panel import StoragePanel

        page, environment = self._page, self._environment
        if "settings" not in self._dialogs:
            self._dialogs["settings"] = SettingsDialog(
                page, environment, relay_url(self._host), self._change_settings
            )
            self._dialogs["storage"] = StoragePanel(
                page.dispatcher, environment, self._asker, page.toasts
            )
        dialog = self._dialogs["settings"]
        chat = self._chat
        asks = chat.asks_for_web and environment.web_reader is not None
        asking = declared(chat.package) if asks else None
        await dialog.open(self._settings.value, chat.character_id, chat.name, asking)
        await self._dialogs["storage"].draw(dialog.dialog)

    def _change_settings(self, changed: Settings) -> None:
        self._settings.change(changed)
        if self._chat.on_stage:
            now = declared(self._chat.package)
            options = changed.player_options(self._chat.character_id, now)
            self._chat.player.configure(**options)
        self._show_model()

    async def _choose_model(self) -> None:
        """A provider without a model gets its first one, before it is asked for an answer."""
        if self._settings.value.lacks_model and (first := await self._settings.first_model()):
            self._change_settings(replace(self._settings.value, model=first))
            self._page.toasts.show(f"{first} answers. Settings has the others.")

    def _show_model(self) -> None:
        kind = "rehearsal" if self._settings.value.rehearsing else "model"
        self._page.shell.set_model(self._settings.value.label(), kind)

    # Dialogs

    def _open_help(self) -> Any:
        return self._page.tasks.start(self._show_help())

    async def _show_help(self) -> None:
        from personae.ui.keyboard.help import show_help

        await show_help(is_mac())

    def _open_palette(self, *, typed: bool = False) -> Any:
        return self._page.tasks.start(self._show_palette(typed))

    async def _show_palette(self, typed: bool) -> None:
        """``typed``: with an "@" that may as well begin a message."""
        from personae.ui.composer.palette import Palette

        commands = self._chat.player.list_commands() if self._chat.on_stage else []
        if not self._chat.on_stage or (typed and not commands):
            return
        if "palette" not in self._dialogs:
            self._dialogs["palette"] = Palette(
                self._page.dispatcher, self._run_command, self._page.composer.take_up
            )
        palette, text = self._dialogs["palette"], self._page.composer.text
        if not typed:
            await palette.open(commands, self._chat.name)
        elif text.startswith("@"):  # some more may have been typed meanwhile
            await palette.open(commands, self._chat.name, text[1:])

    async def _run_command(self, name: str, args: str) -> str | None:
        return await self._chat.player.run_command(name, args)
