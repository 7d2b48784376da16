"""The app: makes the views, wires them to each other, and decides what is shown first."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import js

from personae.errors import PersonaeError, StorageError
from personae.player.environment import Environment
from personae.ui.chat import Chat
from personae.ui.composer.composer import Composer
from personae.ui.conversations.conversation_menu import ConversationMenu
from personae.ui.conversations.conversations import Sidebar
from personae.ui.dom import markdown
from personae.ui.dom.ask import Asker
from personae.ui.dom.files import copy_text
from personae.ui.dom.menu import Menus
from personae.ui.dom.notices import Banners, Toasts
from personae.ui.dom.page_dom import Dispatcher, Frames, Listeners, Tasks, load_templates
from personae.ui.dom.shortcuts import Shortcuts, is_mac
from personae.ui.inspector.inspector import Inspector
from personae.ui.page import Page
from personae.ui.remedies import Advice
from personae.ui.settings import app_settings as settings
from personae.ui.settings.app_settings import Settings
from personae.ui.shell import Shell
from personae.ui.start.bring_character import Opening
from personae.ui.start.library_menu import LibraryMenu
from personae.ui.transcript.editing import Editing
from personae.ui.transcript.transcript import Transcript

SETTLED = 3_000
"""Milliseconds after the start in which the network and the processor belong to the user."""


class App:
    """``await App(environment, host).start()`` returns when the page can be used."""

    def __init__(self, environment: Environment, host: dict[str, Any]) -> None:
        self.environment, self.host = environment, host
        self.settings = Settings()
        self.page = self._make_page()
        self.chat = Chat(environment, self.page)
        self.opening = Opening(self)
        self.asker = Asker(self.page.dispatcher)
        self.editing = Editing(self)
        self.conversations = ConversationMenu(self)
        self._library_menu = LibraryMenu(self)
        self._shortcuts = Shortcuts(self._shortcut, is_mac())
        self._dialogs: dict[str, Any] = {}
        self._saving: asyncio.Task[None] | None = None
        self._settings_read = False
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
            shell=Shell(dispatcher, self._dropped),
            sidebar=Sidebar(),
            composer=Composer(dispatcher, self._send, self._open_palette, self._recall),
            transcript=Transcript(frames),
            inspector=Inspector(dispatcher, tasks, toasts),
        )

    async def start(self) -> None:
        await asyncio.gather(load_templates("chat"), markdown.prepare(), self._load_settings())
        attach = getattr(self.environment.notifier, "attach", None)
        if attach is not None:
            attach(self._notify)
        self._show_model()
        self._register()
        self._listeners.on(js.window, "beforeunload", self._leaving)
        await self.opening.open_first()
        self.page.tasks.start(self._once_settled())

    async def _once_settled(self) -> None:
        """What may wait: looking for updates, and for what a killed tab has left."""
        from personae.ui.updates import Updates

        await self.environment.clock.sleep(SETTLED)
        self._updates = Updates(self.page.toasts, lambda: self.chat.answering)
        await self._updates.start()
        with suppress(StorageError):
            await self.opening.library.tidy()

    def report(self, error: BaseException) -> None:
        """Shows an error that nobody expected where it happened."""
        if isinstance(error, StorageError) and error.code.startswith("storage_"):
            # The one banner for storage, which goes away by itself when storage works again.
            self.environment.saver.suspend(error)
            return
        if not isinstance(error, PersonaeError):
            import traceback

            traceback.print_exception(error)
        self.page.banners.show_error(error)

    def _register(self) -> None:
        on = self.page.dispatcher.on
        on("action", "stop", lambda *_: self.chat.stop())
        on("action", "new-conversation", lambda *_: self.chat.new_conversation())
        on("action", "open-conversation", self._open_conversation)
        on("action", "jump-to-end", lambda *_: self.page.transcript.pin())
        on("action", "open-settings", lambda *_: self.open_settings())
        on("action", "open-palette", lambda *_: self._open_palette())
        on("action", "open-help", lambda *_: self._open_help())
        on("action", "close-dialog", lambda element, _: element.closest("dialog").close())
        on("action", "copy-code", self._copy_code)
        on("action", "load-image", lambda element, _: markdown.module().loadImage(element))
        on("input", "conversation-search", lambda *_: self.chat.search())

    async def _storage_works_again(self) -> None:
        """Shows what could not be read before."""
        if self.chat.player is not None:
            await self.chat.refresh_list()
        if self.page.shell.view == "start":
            await self.opening.show_start()

    def _leaving(self, event: Any) -> None:
        """Lets the browser ask before it closes a tab that holds what is not stored."""
        if self.environment.saver.fault is not None:
            event.preventDefault()

    def _notify(self, kind: str, message: str) -> None:
        if kind == "storage":
            if not message:
                self.page.banners.clear("storage")
                self.page.tasks.start(self._storage_works_again())
                return
            self.page.banners.show(Advice(message), topic="storage", quiet=True)
        elif message:
            self.page.toasts.show(message, seconds=8 if kind == "warning" else 5)

    def _send(self, text: str) -> None:
        self.chat.send(text)
        if not self._keeping:
            self._keeping = True
            self.page.tasks.start(self._keep_data())

    def _recall(self) -> bool:
        return self.editing.edit_last_own()

    async def _keep_data(self) -> None:
        """Asks the browser to keep the data, now that there is something to keep."""
        from personae.ui.settings.storage_panel import ask_to_persist

        await ask_to_persist()

    def _dropped(self, file: Any) -> None:
        if str(file.name).lower().endswith(".json"):
            self.page.tasks.start(self.conversations.import_file(file))
        else:
            self.page.tasks.start(self.opening.open_file(file))

    def _shortcut(self, name: str, message: Any) -> bool:
        """Does what a shortcut stands for; False when it means nothing now."""
        on_stage = self.chat.player is not None and self.page.shell.view == "chat"
        if name == "stop":
            return self._escape()
        anywhere = {
            "characters": lambda: self.page.tasks.start(self.opening.go_home()),
            "settings": self.open_settings,
            "help": self._open_help,
        }
        in_chat = {
            "commands": self._open_palette,
            "new": lambda: self.page.tasks.start(self.chat.new_conversation()),
            "panel": lambda: self.page.tasks.start(self.page.inspector.toggle()),
            "composer": self.page.composer.focus,
            "previous": lambda: self.page.transcript.step(-1),
            "next": lambda: self.page.transcript.step(1),
        }
        if message is not None and name in ("copy", "edit", "regenerate", "delete"):
            return on_stage and self.editing.act(name, message)
        act = anywhere.get(name) or (in_chat.get(name) if on_stage else None)
        if act is not None:
            act()
        return act is not None

    def _escape(self) -> bool:
        """Closes what lies over the conversation, else stops the reply."""
        if self.page.shell.close_sidebar() or self.page.inspector.close_overlay():
            return True
        answering = self.chat.answering
        self.chat.stop()
        return answering

    def _open_conversation(self, element: Any, _event: Any) -> Any:
        return self.chat.open_conversation(str(element.closest("[data-id]").dataset.id))

    def _copy_code(self, element: Any, _event: Any) -> Any:
        return copy_text(str(element.closest("figure").querySelector("code").textContent), element)

    # Settings

    async def _load_settings(self) -> None:
        try:
            stored = await settings.load(self.environment.storage)
        except StorageError as error:
            self.report(error)
        else:
            self.settings = settings.merged(stored, self.settings)
            self._settings_read = True

    def open_settings(self) -> Any:
        return self.page.tasks.start(self._show_settings())

    async def _show_settings(self) -> None:
        from personae.ui.settings.settings_dialog import SettingsDialog
        from personae.ui.settings.storage_panel import StoragePanel

        page, environment = self.page, self.environment
        if "settings" not in self._dialogs:
            self._dialogs["settings"] = SettingsDialog(
                page.dispatcher, page.tasks, environment.transport, self.host, self._change_settings
            )
            self._dialogs["storage"] = StoragePanel(
                page.dispatcher, environment, self.asker, page.toasts
            )
        dialog = self._dialogs["settings"]
        name, web = self.chat.name, self.chat.asks_for_web and environment.web_reader is not None
        await dialog.open(self.settings, self.chat.character_id, name, web)
        await self._dialogs["storage"].draw(dialog.dialog)

    def _change_settings(self, changed: Settings) -> None:
        self.settings = changed
        if self.chat.player is not None:
            self.chat.player.configure(**changed.player_options(self.chat.character_id))
        self._show_model()
        self._save_soon()

    def _save_soon(self) -> None:
        if self._saving is None or self._saving.done():
            self._saving = self.page.tasks.start(self._save_settings())

    async def _save_settings(self) -> None:
        saved = None
        while saved != self.settings:
            if not self._settings_read:  # what could not be read is not overwritten
                await self._load_settings()
            if not self._settings_read:
                return
            saved = self.settings
            await settings.save(self.environment.saver, saved)

    def _show_model(self) -> None:
        kind = "rehearsal" if self.settings.rehearsing else "model"
        self.page.shell.set_model(self.settings.label(), kind)

    # Dialogs

    def _open_help(self) -> Any:
        return self.page.tasks.start(self._show_help())

    async def _show_help(self) -> None:
        from personae.ui.help import show_help

        await show_help(is_mac())

    def _open_palette(self) -> Any:
        return self.page.tasks.start(self._show_palette())

    async def _show_palette(self) -> None:
        from personae.ui.composer.palette import Palette

        if self.chat.player is None:
            return
        if "palette" not in self._dialogs:
            self._dialogs["palette"] = Palette(
                self.page.dispatcher, self._run_command, self.page.composer.focus
            )
        commands = self.chat.player.list_commands()
        await self._dialogs["palette"].open(commands, self.chat.name)

    async def _run_command(self, name: str, args: str) -> str | None:
        problem: str | None = await self.chat.player.run_command(name, args)
        return problem
