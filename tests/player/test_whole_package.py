"""The package that uses every feature at once, from its files to its turns."""

from __future__ import annotations

from tests.player.support import World, breathe, playing, roles
from tests.player.whole_package import FILES, functions


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
