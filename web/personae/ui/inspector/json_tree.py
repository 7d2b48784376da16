"""JSON as a tree that can be read: an agent's store in the inspector."""

from __future__ import annotations

import json
from typing import Any

from personae.ui import formats
from personae.ui.dom.elements import clone, fill, part
from personae.ui.dom.listeners import Listeners

_MOST_CHILDREN = 300
_LONGEST = 2_000
"""Characters of a value that are shown."""

Items = list[tuple[str, Any]]


class Tree:
    """Branches are filled when they are opened, so that a large value costs what is looked at.

    A branch is known by its path; those that were open stay open when the value is drawn anew.
    """

    def __init__(self, box: Any) -> None:
        self._box = box
        self._folded: dict[str, Items] = {}
        self._open = {""}
        self._listeners = Listeners()
        self._listeners.on(box, "toggle", self._toggled, capture=True)

    def draw(self, value: Any) -> None:
        self._folded.clear()
        self._box.replaceChildren(self._node("", "", value))

    def _node(self, path: str, key: str, value: Any) -> Any:
        if isinstance(value, dict) and value:
            return self._branch(path, key, list(value.items()), "{}")
        if isinstance(value, list) and value:
            items = [(str(at), item) for at, item in enumerate(value)]
            return self._branch(path, key, items, "[]")
        leaf = clone("tree-leaf")
        text = json.dumps(value, ensure_ascii=False)
        fill(leaf, key=key, value=text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
        part(leaf, "value").dataset.kind = "string" if isinstance(value, str) else "other"
        return leaf

    def _branch(self, path: str, key: str, items: Items, brackets: str) -> Any:
        branch = clone("tree-branch")
        count = formats.plural(len(items), "entry", "entries")
        fill(branch, key=key, note=f"{brackets[0]}{count}{brackets[1]}")
        branch.dataset.path = path
        self._folded[path] = items
        if path in self._open:
            branch.open = True
            self._unfold(branch, path)
        return branch

    def _unfold(self, branch: Any, path: str) -> None:
        items = self._folded.pop(path, None)
        if items is None:
            return
        nodes = [self._node(f"{path}/{key}", key, item) for key, item in items[:_MOST_CHILDREN]]
        if len(items) > _MOST_CHILDREN:
            more = clone("panel-empty")
            fill(more, text=f"and {formats.count(len(items) - _MOST_CHILDREN)} more")
            nodes.append(more)
        part(branch, "children").replaceChildren(*nodes)

    def _toggled(self, event: Any) -> None:
        branch = event.target
        if not branch.matches(".branch"):
            return
        path = str(branch.dataset.path)
        if branch.open:
            self._open.add(path)
            self._unfold(branch, path)
        else:
            self._open.discard(path)

    def close(self) -> None:
        self._listeners.close()
