"""The panel behind the scenes: the character's agents, and the prompt of the next request."""

from __future__ import annotations

import json
from typing import Any

import js

from personae.player.character_player import CharacterPlayer
from personae.settings import Limits
from personae.ui import formats
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import by_id, clone, fill, part, show
from personae.ui.dom.files import copy_text, save_file
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.tasks import Tasks
from personae.ui.dom.templates import load_templates
from personae.ui.inspector.agent_card import AgentCard
from personae.ui.notices.toasts import Toasts


class Inspector:
    def __init__(self, dispatcher: Dispatcher, tasks: Tasks, toasts: Toasts) -> None:
        self._box, self._tasks, self._toasts = by_id("inspector"), tasks, toasts
        self._player: CharacterPlayer | None = None
        self._tab = "agents"
        self._prompt: dict[str, Any] = {}
        self._cards: dict[str, AgentCard] = {}
        self._listeners = Listeners()
        self._listeners.on(self._box, "toggle", self._toggled, capture=True)
        self._listeners.on(self._box, "keydown", self._key)
        dispatcher.on("action", "toggle-inspector", lambda *_: self.toggle())
        dispatcher.on("action", "tab", lambda element, _: self._choose(str(element.dataset.tab)))
        dispatcher.on("action", "refresh-prompt", lambda *_: self.refresh())
        dispatcher.on("action", "copy-prompt", self._copy_prompt)
        dispatcher.on("action", "export-store", self._export_store)

    def attach(self, player: CharacterPlayer | None) -> None:
        """Shows another player's agents; None when there is none."""
        self._player = player
        self._drop_cards()
        if player is None:
            self.close()
        else:
            self.refresh()

    @property
    def visible(self) -> bool:
        return not self._box.hidden

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
            self._box.querySelector("[role=tab][aria-selected=true]").focus()

    def close_overlay(self) -> bool:
        """Closes the panel where it lies over the conversation; False when it does not."""
        if not self.visible or js.getComputedStyle(self._box).position != "fixed":
            return False
        self.close()
        by_id("inspector-toggle").focus()
        return True

    def close(self) -> None:
        show(self._box, False)
        by_id("inspector-toggle").setAttribute("aria-expanded", "false")

    def refresh(self) -> None:
        """Draws what is visible anew; does nothing while the panel is closed."""
        player = self._player
        if self.visible and player is not None:
            draw = self._draw_agents if self._tab == "agents" else self._draw_prompt
            self._tasks.start(draw(player))

    def _choose(self, tab: str) -> None:
        self._tab = tab
        for button in list(self._box.querySelectorAll("[role=tab]")):
            chosen = button.dataset.tab == tab
            button.setAttribute("aria-selected", "true" if chosen else "false")
            button.tabIndex = 0 if chosen else -1
        show(part(self._box, "agents"), tab == "agents")
        show(part(self._box, "prompt"), tab == "prompt")
        self.refresh()

    def _key(self, event: Any) -> None:
        """Arrow keys move between the two tabs."""
        if event.target.matches("[role=tab]") and event.key in ("ArrowLeft", "ArrowRight"):
            event.preventDefault()
            self._choose("prompt" if self._tab == "agents" else "agents")
            self._box.querySelector("[role=tab][aria-selected=true]").focus()

    async def _copy_prompt(self, element: Any, _event: Any) -> None:
        kept = {name: self._prompt[name] for name in ("messages", "tools")}
        await copy_text(json.dumps(kept, indent=2, ensure_ascii=False))
        self._toasts.show("The prompt is on the clipboard.")

    def _export_store(self, element: Any, _event: Any) -> None:
        agent_id = str(element.closest(".agent").dataset.id)
        name = f"{agent_id}.agent.json"
        if self._player is not None:
            data = self._player.export_default_data().get(name, "{}")
            save_file(name, data, "application/json")

    # Agents

    async def _draw_agents(self, player: CharacterPlayer) -> None:
        """One card an agent; cards stay, so that what is open in them stays open."""
        agents = player.agents()
        box = part(self._box, "agents")
        if [agent["id"] for agent in agents] != list(self._cards):
            self._drop_cards()
            self._cards = {agent["id"]: AgentCard(agent["id"]) for agent in agents}
            none = _empty("This character has no agents. It speaks from its text alone.")
            cards = [card.element for card in self._cards.values()]
            box.replaceChildren(*([clone("agents-head"), *cards] if cards else [none]))
        if agents:
            _fill_head(part(self._box, "agents").firstElementChild, agents, player.settings.limits)
        for agent in agents:
            await self._draw_card(player, agent)

    async def _draw_card(self, player: CharacterPlayer, agent: dict[str, Any]) -> None:
        card = self._cards.get(agent["id"])
        if card is None or player is not self._player:
            return
        card.draw(agent, player.agent_log(agent["id"]))
        if card.element.open:
            store = await player.agent_store(agent["id"])
            if player is self._player:
                card.draw_store(store)

    def _toggled(self, event: Any) -> None:
        if event.target.matches(".agent") and event.target.open:
            self.refresh()

    def _drop_cards(self) -> None:
        for card in self._cards.values():
            card.close()
        self._cards = {}

    # The prompt

    async def _draw_prompt(self, player: CharacterPlayer) -> None:
        box = part(self._box, "prompt")
        self._prompt = await player.prompt_preview()
        if player is not self._player:
            return
        messages, tools = self._prompt["messages"], self._prompt["tools"]
        sizes = self._prompt["messageTokens"]
        head = clone("prompt-head")
        tokens = formats.count(int(self._prompt.get("tokens") or 0))
        fill(
            head,
            summary=f"The next request: {formats.plural(len(messages), 'message')} before yours, "
            f"{formats.plural(len(tools), 'tool')}, about {tokens} tokens.",
        )
        nodes = [
            _prompt_item(_role(message), _text(message), tokens=size)
            for message, size in zip(messages, sizes, strict=True)
        ]
        nodes += [
            _prompt_item("tool", json.dumps(tool, indent=2, ensure_ascii=False), _tool_name(tool))
            for tool in tools
        ]
        box.replaceChildren(head, *nodes)


def _fill_head(head: Any, agents: list[dict[str, Any]], limits: Limits) -> None:
    """How many agents there are, and what they have spent of the caps."""
    fill(head, summary=f"{formats.plural(len(agents), 'agent')} in this character.")
    spent = int(agents[0]["tokensSpent"]["conversation"])
    show(part(head, "budget"), spent > 0)
    label = f"Agents spent {formats.count(spent)} of {formats.count(limits.conversation)} tokens."
    fill(head, budget_label=label)
    meter = part(head, "budget-meter")
    meter.setAttribute("aria-label", "Tokens spent by agents")
    meter.value = min(1.0, spent / limits.conversation) if limits.conversation else 1.0


def _empty(text: str) -> Any:
    node = clone("panel-empty")
    fill(node, text=text)
    return node


def _prompt_item(role: str, text: str, peek: str = "", tokens: int | None = None) -> Any:
    node = clone("prompt-message")
    size = formats.estimate_tokens(text) if tokens is None else tokens
    peek = peek or formats.one_line(text, 90)
    fill(node, role=role, peek=peek, text=text, size=f"≈ {formats.count(size)}")
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
