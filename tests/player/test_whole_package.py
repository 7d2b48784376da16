"""One package that uses every feature at once, from its files to its turns.

The real loader reads it; the agents' functions are stood in for by Python ones.
"""

from __future__ import annotations

import json

from tests.player.support import World, breathe, playing, roles

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


def functions(events):
    def note(name):
        def hook(event, store, studio, context):
            events.append((name, event))
            store.setdefault("events", []).append(name)

        return hook

    async def keep(name, args, store, studio, context):
        assert context["config"]["promptBody"].startswith("You keep the lore")
        meta = context["config"]["meta"]
        return await studio.request(
            "callModel",
            "Keep.",
            [{"role": "user", "content": args["question"]}],
            64,
            {"model": meta["model"]},
        )

    async def look_up(name, args, store, studio, context):
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


async def test_it_plays():
    events: list = []
    world = World(functions(events))
    async with playing(world, {"files": FILES}, worker_model="small") as player:
        await breathe()
        assert [problem for problem in player.package.warnings if problem.severity == "error"] == []
        assert await player.run_command("@mood", "") == "Usage: mood"
        assert await player.run_command("@mood", "glad") is None

        world.transport.calls(("roll", {"sides": 6}), ("time", {}), ("cars", {}), ("boats", {}))
        world.transport.calls(("keeper", {"question": "Who?"}))
        private = next(a for a in player.agents() if a["private"])
        world.transport.replies("", ("cars", {}), (private["tools"][0]["name"], {"wrong": 1}))
        world.transport.replies("The keeper says so.")
        world.transport.says("All done.")
        assert (await player.send("Do everything"))["content"] == "All done."

        first = world.transport.bodies[0]
        assert [m["content"] for m in first["messages"]] == [
            "Stay in character. You are Wren.",
            first["messages"][1]["content"],
            "Mood: glad",
            "Hello, I am Wren.",
            "Do everything",
        ]
        assert first["messages"][1]["content"].endswith("\n\nAlpha.\n\n[]\n\nBeta.")
        offered = [t["function"]["name"] for t in first["tools"]]
        assert offered == ["roll", "time", "cars", "boats", "keeper"]
        assert [content for role, content in roles(player) if role == "tool"] == [
            "4",
            "noon",
            'wren.cars: [{"name": "Mini"}]',
            "wren.boats: []",
            "The keeper says so.",
        ]
        inner = world.transport.bodies[2]
        assert (inner["model"], inner["max_tokens"]) == ("big", 64)
        assert inner["tools"][0]["function"]["name"] == "cars"

        [keeper] = [c for e in player.entries for c in e.tool_calls if c.name == "keeper"]
        assert keeper.number == 5
        assert [call.number for call in keeper.granted][:1] == [6]
        assert await player.agent_store("wren.mood") == {
            "mood": "glad",
            "events": [
                "onConversationStart",
                "onBeforeResponse",
                *["onAfterToolCall"] * 5,
                "onAfterResponse",
            ],
        }
        await player.clear()
        assert events[-1][0] == "onAfterUserEdit"
        assert events[-1][1]["deletedToolCallIds"][:6] == [1, 2, 3, 4, 5, 6]
        assert events[-1][1]["lastViableToolCallId"] == 0
    async with playing(world, {"files": FILES}) as again:
        assert again.entries == []
        assert (await again.agent_store("wren.mood"))["mood"] == "glad"
