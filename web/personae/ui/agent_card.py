"""One agent in the inspector: what it declares, how it is, what it stores and did."""

from __future__ import annotations

from typing import Any

from personae.ui import formats
from personae.ui.dom import clone, fill, part, show
from personae.ui.tree import Tree

_LANGUAGES = {
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "python": "Python",
    "lua": "Lua",
}
_STATES = {
    "closed": "asleep",
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
        self._lines = -1

    def draw(self, agent: dict[str, Any], log: list[dict[str, Any]]) -> None:
        worker = str(agent["worker"])
        state = _STATES.get(worker, worker)
        fill(self.element, id=agent["id"], state=state, description=agent["description"])
        part(self.element, "state").dataset.state = worker
        facts = agent_facts(agent)
        if facts != self._facts:
            self._facts = facts
            part(self.element, "facts").replaceChildren(*[_fact(*fact) for fact in facts])
        if len(log) != self._lines:
            self._lines = len(log)
            lines = [_log_line(line) for line in log[-_MOST_LINES:]]
            part(self.element, "log").replaceChildren(*lines)
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
    fill(node, time=formats.clock(line["at"]), what=what, detail=detail)
    return node


def log_text(line: dict[str, Any]) -> tuple[str, str]:
    """(headline, details) of one line of an agent's log."""
    if line["kind"] != "call":
        return str(line["text"]), ""
    took = f", {line['milliseconds']:.0f} ms" if "milliseconds" in line else ""
    facts = [("arguments", line.get("args")), ("result", line.get("result"))]
    shown = [f"{name}: {value}" for name, value in facts if value not in (None, "", [])]
    return f"{line.get('function', 'call')}{took}", "\n".join(shown)


_MOST_LINES = 200


def agent_facts(agent: dict[str, Any]) -> list[tuple[str, str]]:
    """(term, value) pairs for what an agent declares; empty ones are left out."""
    facts = [
        ("Language", _LANGUAGES.get(str(agent.get("language")), str(agent.get("language") or ""))),
        ("Version", str(agent.get("version") or "")),
        ("Kind", "Sub-agent" if agent.get("subAgent") else ""),
        ("Tools", _tools(agent.get("tools"))),
        ("Commands", ", ".join(f"@{name}" for name in _name_list(agent.get("commands")))),
        ("May use", _names(agent.get("apis"))),
        ("Hooks", _names(agent.get("hooks"))),
        ("Libraries", _names(agent.get("libraries"))),
        ("Preload", "yes" if agent.get("preload") else ""),
    ]
    return [(term, value) for term, value in facts if value]


def _names(items: Any) -> str:
    return ", ".join(_name_list(items))


def _tools(items: Any) -> str:
    """Names; those that another agent registered first say so."""
    return ", ".join(
        str(item["name"]) + ("" if item.get("registered", True) else " (taken)")
        for item in items or []
    )


def _name_list(items: Any) -> list[str]:
    return [str(item["name"] if isinstance(item, dict) else item) for item in items or []]
