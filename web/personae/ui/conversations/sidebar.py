"""The sidebar: who the character is, and the conversations with them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from personae.ui import formats
from personae.ui.conversations.matches import matching_conversations
from personae.ui.dom.elements import by_id, clone, document, fill, mark, part, show
from personae.ui.dom.monogram import paint_monogram

SEARCH_FROM = 6
"""A search field appears when there are at least this many conversations."""


class Sidebar:
    def __init__(self) -> None:
        self._list, self._search = by_id("conversation-list"), by_id("conversation-search")
        self._row = by_id("character-row")
        self._conversations: list[dict[str, Any]] = []
        self._current: str | None = None
        self._said: Collection[str] = ()
        """Ids of the conversations in which the query was said."""
        self._drawn: Any = None

    def set_character(self, name: str, note: str) -> None:
        fill(self._row, name=name, note=formats.one_line(note, 60))
        paint_monogram(part(self._row, "monogram"), name)
        mark(self._row, "blank", False)

    def clear(self) -> None:
        self.set_character("No character yet", "Choose one to talk to")
        self.set_conversations([], None, 0)
        by_id("new-conversation").disabled = True

    def set_conversations(
        self, conversations: list[dict[str, Any]], current: str | None, now: int
    ) -> None:
        self._conversations, self._current = conversations, current
        show(by_id("search-field"), len(conversations) >= SEARCH_FROM)
        show(by_id("conversation-scroll"), True)
        self.draw(now)

    @property
    def query(self) -> str:
        return str(self._search.value).strip()

    @property
    def conversations(self) -> list[dict[str, Any]]:
        return self._conversations

    def set_said(self, said: Collection[str]) -> None:
        self._said = said

    def draw(self, now: int) -> None:
        """Draws what matches the search field, unless it is what is drawn already."""
        shown = matching_conversations(self._conversations, self.query, self._said)
        key = (
            self._current,
            [
                (item["id"], item.get("title"), formats.short_time(item["updatedAt"], now))
                for item in shown
            ],
        )
        if key == self._drawn:
            return
        self._drawn = key
        nodes, group = [], ""
        for item in shown:
            heading = formats.day_group(item["updatedAt"], now)
            if heading != group:
                group = heading
                nodes.append(_heading(heading))
            nodes.append(self._item(item, now))
        if not nodes and self._conversations:
            nodes.append(_note("Nothing found."))
        self._list.replaceChildren(*nodes)

    def _item(self, item: dict[str, Any], now: int) -> Any:
        node = clone("conversation")
        title = str(item.get("title") or "New conversation")
        fill(node, title=title, time=formats.short_time(item["updatedAt"], now))
        node.dataset.id = item["id"]
        node.querySelector(".conversation-more").setAttribute("aria-label", f"More for {title}")
        if item["id"] == self._current:
            node.setAttribute("aria-current", "true")
        return node


def _heading(text: str) -> Any:
    node = document.createElement("li")
    node.className = "conversation-group"
    node.textContent = text
    return node


def _note(text: str) -> Any:
    node = document.createElement("li")
    node.className = "list-empty"
    node.textContent = text
    return node
