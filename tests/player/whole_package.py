"""One package that uses every feature at once.

The real loader reads it; the agents' functions are stood in for by Python ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

JS = """/**
 * @agent {id}
 * @description {id} does things.
{tags} */
export function onToolCall() {{}}
"""


def js(agent_id: str, *tags: str) -> str:
    return JS.format(id=agent_id, tags="".join(f" * {tag}\n" for tag in tags))


PROMPT = """---
name: keeper
description: Answers questions about the lore.
parameters:
  type: object
  properties: {"question": {"type": "string"}}
  required: ["question"]
maxRounds: 3
---
You keep the lore of %%CHARACTER_NAME%%.
"""

FILES = {
    "config.json": json.dumps(
        {
            "name": "Wren",
            "agents": [
                "wren.mood",
                "wren.dice",
                "wren.clock",
                {
                    "id": "wren.cars",
                    "implementation": "studio.agent-db",
                    "contextFile": ".cars.json",
                },
                {
                    "id": "wren.boats",
                    "implementation": "studio.agent-db",
                    "contextFile": "boats.json",
                },
                {
                    "id": "wren.keeper",
                    "implementation": "studio.sub-agent",
                    "promptFile": "keeper.subagent.md",
                    "model": "main",
                    "shared-agents": ["wren.cars"],
                    "private-agents": ["studio.memory-store"],
                },
            ],
            "fileMappings": {
                "Instructions": "sheet.txt",
                "System Prompt": "prompts/system.txt",
                "Introduction": "pub/intro.txt",
                "ContextDirectory": "lore/",
            },
        }
    ),
    "sheet.txt": "You are Wren.",
    "prompts/system.txt": "Stay in character. %%CHARACTER_INSTRUCTIONS%%",
    "pub/intro.txt": "Hello, I am Wren.",
    "lore/a.txt": "Alpha.",
    "lore/sub/b.txt": "Beta.",
    "lore/.cars.json": '[{"name": "Mini"}]',
    "lore/boats.json": "[]",
    "agents/wren.mood.js": js(
        "wren.mood",
        "@preload true",
        "@hook conversationStart",
        "@hook beforeResponse",
        "@hook afterResponse",
        "@hook afterToolCall",
        "@hook afterUserEdit",
        "@command @mood setMood",
    ),
    "agents/wren.dice.py": '"""\n@agent wren.dice\n@tool roll\n@tool-description Rolls.\n'
    '@tool-params {"properties": {"sides": {"type": "integer"}}, "required": ["sides"]}\n'
    '"""\n\ndef on_tool_call(tool, args, store, studio, context):\n    return "4"\n',
    "agents/wren.clock.lua": "--[[\n@agent wren.clock\n@tool time\n@tool-description Tells.\n]]\n"
    "function on_tool_call() return 'noon' end\n",
    "agents/keeper.subagent.md": PROMPT,
    "wren.mood.agent.json": '{"mood": "calm"}',
}


Events = list[tuple[str, Any]]


def functions(events: Events) -> dict[str, dict[str, Callable[..., Any]]]:
    """Each agent's functions; hooks note themselves in ``events``."""

    def note(name: str) -> Callable[..., None]:
        def hook(event: Any, store: Any, studio: Any, context: Any) -> None:
            events.append((name, event))
            store.setdefault("events", []).append(name)

        return hook

    async def keep(name: str, args: Any, store: Any, studio: Any, context: Any) -> Any:
        assert context["config"]["promptBody"].startswith("You keep the lore")
        meta = context["config"]["meta"]
        return await studio.request(
            "callModel",
            "Keep.",
            [{"role": "user", "content": args["question"]}],
            64,
            {"model": meta["model"]},
        )

    async def look_up(name: str, args: Any, store: Any, studio: Any, context: Any) -> str:
        text = await studio.request("context.readFile", context["config"]["contextFile"])
        return f"{context['agentId']}: {text}"

    hooks = (
        "onConversationStart",
        "onBeforeResponse",
        "onAfterResponse",
        "onAfterToolCall",
        "onAfterUserEdit",
    )
    return {
        "wren.mood": {
            **{name: note(name) for name in hooks},
            "onLoad": lambda store, *_: f"Mood: {store['mood']}",
            "setMood": lambda args, store, *_: store.update(mood=args) if args else "Usage: mood",
        },
        "wren.dice": {"onToolCall": lambda name, args, *_: str(args["sides"] - 2)},
        "wren.clock": {"onToolCall": lambda *_: "noon"},
        "wren.cars": {"onToolCall": look_up},
        "wren.boats": {"onToolCall": look_up},
        "wren.keeper": {"onToolCall": keep},
        "wren.keeper.studio.memory-store": {"onToolCall": lambda name, *_: f"{name} done"},
    }
