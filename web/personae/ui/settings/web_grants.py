"""Asks again for web access that was granted to agents that declared something else.

Invariant: until the user has answered, the access is off (``Settings.allows_web``).
"""

from __future__ import annotations

from collections.abc import Callable

from personae.package.declarations import changes, declared
from personae.ui.chat import Chat
from personae.ui.dom.ask import Asker
from personae.ui.settings.app_settings import Settings, with_web, without_access


class WebGrants:
    def __init__(
        self,
        chat: Chat,
        asker: Asker,
        settings: Callable[[], Settings],
        change: Callable[[Settings], None],
    ) -> None:
        self._chat, self._asker, self._settings, self._change = chat, asker, settings, change

    async def review(self) -> None:
        """Looks at the character on stage; another one that comes meanwhile ends the question."""
        chat = self._chat
        if not chat.on_stage:
            return
        character_id, package = chat.character_id, chat.package
        before, now = self._settings().web_access.get(character_id), declared(package)
        if before is None or before == now:
            return
        again = chat.asks_for_web and await self._asker.confirm(
            f"{package.name} has changed. Allow web pages again?",
            f"You let its agents read web pages. {' '.join(changes(before, now))}"
            if before
            else "You let its agents read web pages; what they declared then is not known.",
            "Allow again",
            cautious=True,
        )
        if chat.on_stage and chat.package is package:
            settings = self._settings()
            self._change(
                with_web(settings, character_id, now)
                if again
                else without_access(settings, {character_id})
            )

    def forget(self, character_id: str) -> None:
        """Of a character that is removed: it asks anew when it comes back."""
        settings = self._settings()
        if character_id in settings.web_access:
            self._change(without_access(settings, {character_id}))
