"""The panel behind the scenes: the character's agents, and the prompt of the next request."""

from __future__ import annotations

import json
from typing import Any

from personae.ui import formats
from personae.ui.dom import Dispatcher, Tasks, by_id, clone, fill, load_templates, part, show

_LANGUAGES = {
    "javascript": "JavaScript",
    "typescript": "TypeScript",
    "python": "Python",
    "lua": "Lua",
}


class Inspector:
    def __init__(self, dispatcher: Dispatcher, tasks: Tasks) -> None:
        self._box, self._tasks = by_id("inspector"), tasks
        self._player: Any = None
        self._tab = "agents"
        self._prompt: dict[str, Any] = {}
        self._generation = 0
        dispatcher.on("action", "toggle-inspector", lambda *_: self.toggle())
        dispatcher.on("action", "tab", lambda element, _: self._choose(str(element.dataset.tab)))
        dispatcher.on("action", "refresh-prompt", lambda *_: self._draw_prompt())

    def attach(self, player: Any) -> None:
        """Shows another player's agents; None when there is none."""
        self._player = player
        if player is None:
            self.close()
        else:
            self.refresh()

    @property
    def visible(self) -> bool:
        return not self._box.hidden

    @property
    def prompt(self) -> dict[str, Any]:
        """The preview that is shown."""
        return self._prompt

    async def toggle(self) -> None:
        if self.visible:
            self.close()
            by_id("inspector-toggle").focus()
        elif self._player is not None:
            await load_templates("panels")
            if not self._box.childElementCount:
                self._box.appendChild(clone("inspector"))
            show(self._box, True)
            by_id("inspector-toggle").setAttribute("aria-expanded", "true")
            self._choose(self._tab)

    def close(self) -> None:
        show(self._box, False)
        by_id("inspector-toggle").setAttribute("aria-expanded", "false")

    def refresh(self) -> None:
        """Draws what is visible anew; does nothing while the panel is closed."""
        if self.visible and self._player is not None:
            self._tasks.start(self._draw_agents() if self._tab == "agents" else self._draw_prompt())

    def _choose(self, tab: str) -> None:
        self._tab = tab
        for button in list(self._box.querySelectorAll("[role=tab]")):
            chosen = button.dataset.tab == tab
            button.setAttribute("aria-selected", "true" if chosen else "false")
            button.tabIndex = 0 if chosen else -1
        show(part(self._box, "agents"), tab == "agents")
        show(part(self._box, "prompt"), tab == "prompt")
        self.refresh()

    # Agents

    async def _draw_agents(self) -> None:
        self._generation += 1
        generation, player = self._generation, self._player
        box = part(self._box, "agents")
        opened = {
            str(item.dataset.id) for item in list(box.querySelectorAll("details[open].agent"))
        }
        nodes = []
        for agent in player.agents():
            node = _agent(agent, await player.agent_store(agent["id"]))
            node.open = agent["id"] in opened
            nodes.append(node)
        if generation != self._generation or player is not self._player:
            return
        if not nodes:
            nodes.append(_empty("This character has no agents. It speaks from its text alone."))
        box.replaceChildren(*nodes)

    # The prompt

    async def _draw_prompt(self) -> None:
        player = self._player
        box = part(self._box, "prompt")
        self._prompt = await player.prompt_preview()
        if player is not self._player:
            return
        messages, tools = self._prompt["messages"], self._prompt["tools"]
        head = clone("prompt-head")
        tokens = formats.count(int(self._prompt.get("tokens") or 0))
        fill(
            head,
            summary=f"The next request: {formats.plural(len(messages), 'message')} before yours, "
            f"{formats.plural(len(tools), 'tool')}, about {tokens} tokens.",
        )
        nodes = [_prompt_item(_role(message), _text(message)) for message in messages]
        nodes += [
            _prompt_item("tool", json.dumps(tool, indent=2, ensure_ascii=False), _tool_name(tool))
            for tool in tools
        ]
        box.replaceChildren(head, *nodes)


def _agent(agent: dict[str, Any], store: Any) -> Any:
    node = clone("agent")
    node.dataset.id = agent["id"]
    fill(
        node,
        id=agent["id"],
        state=str(agent.get("state") or ""),
        description=agent.get("description") or "",
    )
    part(node, "state").dataset.state = str(agent.get("state") or "")
    facts = part(node, "facts")
    for term, value in agent_facts(agent):
        fact = clone("fact")
        fill(fact, term=term, value=value)
        facts.appendChild(fact)
    part(node, "store").replaceChildren(tree("", store))
    return node


def agent_facts(agent: dict[str, Any]) -> list[tuple[str, str]]:
    """(term, value) pairs for what an agent declares; empty ones are left out."""
    facts = [
        ("Language", _LANGUAGES.get(str(agent.get("language")), str(agent.get("language") or ""))),
        ("Version", str(agent.get("version") or "")),
        ("Tools", _names(agent.get("tools"))),
        ("Commands", ", ".join(f"@{name}" for name in _name_list(agent.get("commands")))),
        ("May use", _names(agent.get("apis"))),
        ("Hooks", _names(agent.get("hooks"))),
        ("Libraries", _names(agent.get("libraries"))),
        ("Preload", "yes" if agent.get("preload") else ""),
    ]
    return [(term, value) for term, value in facts if value]


def _names(items: Any) -> str:
    return ", ".join(_name_list(items))


def _name_list(items: Any) -> list[str]:
    return [str(item["name"] if isinstance(item, dict) else item) for item in items or []]


def tree(key: str, value: Any) -> Any:
    """A readable tree of JSON; branches are filled when they are opened first."""
    if isinstance(value, dict) and value:
        return _branch(key, list(value.items()), "{", "}")
    if isinstance(value, list) and value:
        return _branch(key, [(str(at), item) for at, item in enumerate(value)], "[", "]")
    leaf = clone("tree-leaf")
    fill(leaf, key=key, value=json.dumps(value, ensure_ascii=False))
    part(leaf, "value").dataset.kind = "string" if isinstance(value, str) else "other"
    return leaf


_MOST_CHILDREN = 500
_OPEN_UP_TO = 12


def _branch(key: str, items: list[tuple[str, Any]], left: str, right: str) -> Any:
    branch = clone("tree-branch")
    note = f"{left}{formats.plural(len(items), 'entry', 'entries')}{right}"
    fill(branch, key=key, note=note)
    children = part(branch, "children")
    for name, item in items[:_MOST_CHILDREN]:
        children.appendChild(tree(name, item))
    if len(items) > _MOST_CHILDREN:
        children.appendChild(_empty(f"and {formats.count(len(items) - _MOST_CHILDREN)} more"))
    branch.open = not key or len(items) <= _OPEN_UP_TO
    return branch


def _empty(text: str) -> Any:
    node = clone("panel-empty")
    fill(node, text=text)
    return node


def _prompt_item(role: str, text: str, peek: str = "") -> Any:
    node = clone("prompt-message")
    fill(
        node,
        role=role,
        peek=peek or formats.one_line(text, 90),
        text=text,
        size=f"≈ {formats.count(formats.estimate_tokens(text))}",
    )
    return node


def _role(message: dict[str, Any]) -> str:
    return f"{message['role']} · file" if message.get("isFile") else str(message["role"])


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    calls = message.get("tool_calls")
    shown = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return shown + (f"\n{json.dumps(calls, indent=2, ensure_ascii=False)}" if calls else "")


def _tool_name(tool: dict[str, Any]) -> str:
    return str(tool.get("function", {}).get("name", ""))
