"""One agent in the inspector: what it declares, how it is, what it stores and did."""

from __future__ import annotations

from typing import Any

from personae.ui import formats
from personae.ui.dom.elements import clone, fill, part, show
from personae.ui.inspector.agent_facts import agent_facts, lines_gone, log_text
from personae.ui.inspector.json_tree import Tree

_MOST_LINES = 200
_STATES = {
    "closed": "asleep",
    "failed": "failed",
    "booting": "starting",
    "ready": "starting",
    "loading": "starting",
    "idle": "awake",
    "calling": "working",
}


class AgentCard:
    """One agent in the panel; ``draw`` fills in what may have changed."""

    def __init__(self, agent_id: str) -> None:
        self.element = clone("agent")
        self.element.dataset.id = agent_id
        self._tree = Tree(part(self.element, "store"))
        self._facts: list[tuple[str, str]] = []
        self._log: list[dict[str, Any]] = []

    def draw(self, agent: dict[str, Any], log: list[dict[str, Any]]) -> None:
        worker = str(agent["worker"])
        state = _STATES.get(worker, worker)
        fill(self.element, id=agent["id"], state=state, description=agent["description"])
        part(self.element, "state").dataset.state = worker
        facts = agent_facts(agent)
        if facts != self._facts:
            self._facts = facts
            part(self.element, "facts").replaceChildren(*[_fact(*fact) for fact in facts])
        self._draw_log(log[-_MOST_LINES:])

    def _draw_log(self, log: list[dict[str, Any]]) -> None:
        """Adds what is new and takes away what is gone: a stack that is unfolded stays so."""
        gone = lines_gone(self._log, log)
        kept = len(self._log) - gone
        self._log = log
        box = part(self.element, "log")
        for _ in range(gone):
            box.firstElementChild.remove()
        if log[kept:]:
            box.append(*[_log_line(line) for line in log[kept:]])
        show(part(self.element, "log-box"), bool(log))

    def draw_store(self, store: Any) -> None:
        self._tree.draw(store)

    def close(self) -> None:
        self._tree.close()


def _fact(term: str, value: str) -> Any:
    fact = clone("fact")
    fill(fact, term=term, value=value)
    return fact


def _log_line(line: dict[str, Any]) -> Any:
    node = clone("log-line")
    node.dataset.kind = line["kind"]
    what, detail = log_text(line)
    stack = str(line.get("stack") or "")
    fill(node, time=formats.clock(line["at"]), what=what, detail=detail, stack=stack)
    show(part(node, "stack-box"), bool(stack))
    return node
