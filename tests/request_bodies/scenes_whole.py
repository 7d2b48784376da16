"""The two packages that use every feature at once."""

from __future__ import annotations

from typing import Any

from tests.player.whole_package import FILES, functions
from tests.request_bodies.stage import Stage, folder, last_id, say, scene


@scene
async def whole(stage: Stage) -> None:
    async with stage.playing(folder("playwright/whole"), worker_model="small") as player:
        stage.transport.calls(
            ("roll", {"sides": 6}),
            ("time", {}),
            ("ports", {}),
            ("boats", {}),
            ("roll", {"sides": "six"}),
            ("dance", {}),
        )
        stage.transport.calls(("keeper", {"question": "How deep?"}))
        stage.transport.replies("", ("roll", {"sides": 4}), ("memory_recall", {}))
        stage.transport.replies("As deep as a 4.")
        await say(player, stage, "Do everything", "All done.")
        assert await player.run_command("mood", "") == "Say which mood."
        assert await player.run_command("mood", "glad") is None
        await say(player, stage, "And now?", "So glad.")
        stage.transport.calls(("time", {}), ("keeper", {"question": "Still?"}))
        stage.transport.replies("Still.")
        stage.transport.says("So it is.")
        await player.resubmit(last_id(player, "user"), "What time is it?")
        await player.fork(last_id(player, "tool"))
        await say(player, stage, "Elsewhere", "Here.")


@scene
async def whole_with_python_agents(stage: Stage) -> None:
    events: list[Any] = []
    async with stage.playing(FILES, functions(events), worker_model="small") as player:
        assert await player.run_command("@mood", "glad") is None
        stage.transport.calls(("roll", {"sides": 6}), ("time", {}), ("cars", {}), ("boats", {}))
        stage.transport.calls(("keeper", {"question": "Who?"}))
        [private] = [one for one in player.agents() if one["private"]]
        stage.transport.replies("", ("cars", {}), (private["tools"][0]["name"], {"wrong": 1}))
        stage.transport.replies("The keeper says so.")
        await say(player, stage, "Do everything", "All done.")
        await player.clear()
        await say(player, stage, "Afterwards", "Clean.")
    async with stage.playing(FILES, functions(events)) as player:
        await say(player, stage, "In a new tab", "Still here.")
