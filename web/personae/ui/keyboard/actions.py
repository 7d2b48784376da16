"""What each shortcut does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from personae.ui.chat import Chat
from personae.ui.page import Page
from personae.ui.start.character_loading import CharacterLoading
from personae.ui.transcript.editing import Editing

Open = Callable[[], object]


class ShortcutActions:
    """``settings``, ``help``, ``palette``: open these dialogs."""

    def __init__(
        self,
        page: Page,
        chat: Chat,
        editing: Editing,
        loading: CharacterLoading,
        *,
        settings: Open,
        help: Open,
        palette: Open,
    ) -> None:
        self._page, self._chat, self._editing = page, chat, editing
        start = page.tasks.start
        self._anywhere: dict[str, Open] = {
            "characters": lambda: start(loading.go_home()),
            "settings": settings,
            "help": help,
        }
        self._talking: dict[str, Open] = {
            "commands": palette,
            "new": lambda: start(chat.new_conversation()),
            "panel": lambda: start(page.inspector.toggle()),
            "composer": page.composer.focus,
            "previous": lambda: page.transcript.step(-1),
            "next": lambda: page.transcript.step(1),
        }

    def do(self, name: str, message: Any) -> bool:
        """``message``: the focused one. False when the shortcut means nothing now."""
        talking = self._chat.on_stage and self._page.shell.screen == "chat"
        if name == "stop":
            return self._escape()
        if message is not None and name in ("copy", "edit", "regenerate", "delete"):
            return talking and self._editing.act(name, message)
        act = self._anywhere.get(name) or (self._talking.get(name) if talking else None)
        if act is not None:
            act()
        return act is not None

    def _escape(self) -> bool:
        """Closes what lies over the conversation, else stops the reply."""
        if self._page.shell.close_sidebar() or self._page.inspector.close_overlay():
            return True
        answering = self._chat.answering
        self._chat.stop()
        return answering
