"""The search field of the list: titles at once, then what was said."""

from __future__ import annotations

from personae.ports import Clock
from personae.storage.content_search import ContentSearch
from personae.ui.conversations.sidebar import Sidebar

PAUSE = 250
"""Milliseconds without typing before what was said is searched."""


class ConversationSearch:
    def __init__(self, sidebar: Sidebar, content: ContentSearch, clock: Clock) -> None:
        self._sidebar, self._content, self._clock = sidebar, content, clock

    async def run(self) -> None:
        """Shows the conversations that hold the query."""
        sidebar, now = self._sidebar, self._clock.now
        query = sidebar.query
        sidebar.set_said(())
        sidebar.draw(now())
        await self._clock.sleep(PAUSE)
        if not query or query != sidebar.query:
            return
        said = await self._content.find(sidebar.conversations, query)
        if query == sidebar.query:
            sidebar.set_said(said)
            sidebar.draw(now())
