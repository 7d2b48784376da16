"""Every package of ``examples/`` and the sample, each with what it is there to show."""

from __future__ import annotations

from tests.request_bodies.stage import Stage, folder, say, scene


@scene
async def minimal(stage: Stage) -> None:
    async with stage.playing(folder("examples/minimal")) as player:
        await say(player, stage, "Good evening.", "Evening. Mind the step.")
        await say(player, stage, "Is it going to rain?", "By four.\n\nBring the washing in.")
        await player.new_conversation()
        await say(player, stage, "Hello again", "You came back.")


@scene
async def renamed_files(stage: Stage) -> None:
    async with stage.playing(folder("examples/renamed-files")) as player:
        await say(player, stage, "Who brings the post?", "Tomas does, on Tuesdays.")
        await say(player, stage, "And if the swell is high?", "Then he does not.")


@scene
async def every_tag(stage: Stage) -> None:
    async with stage.playing(folder("examples/every-tag")) as player:
        stage.transport.calls(
            ("log_event", {"what": "The lamp went out", "importance": "high"}),
            ("log_event", {"what": "A boat passed"}),
            ("read_log", {}),
            text="One moment.",
        )
        await say(player, stage, "What happened?", "It is in the logbook.")
        assert await player.run_command("log", " ") is not None
        assert await player.run_command("@log", "Tomas came") is None
        stage.transport.calls(("read_log", ""))
        await say(player, stage, "Show me the logbook", "Three lines.")
        stage.transport.calls(("log_event", {"what": "Again"}))
        stage.transport.says("Written again.")
        await player.regenerate()
        await say(player, stage, "Thank you", "Not at all.")
        await player.new_conversation()
        await say(player, stage, "An empty book?", "Quite empty.")


@scene
async def four_languages(stage: Stage) -> None:
    async with stage.playing(folder("examples/four-languages")) as player:
        await say(player, stage, "Start counting.", "I am counting.")
        stage.transport.calls(
            ("count_sails", {"sails": 3}),
            ("count_ferries", {"ferries": 2}),
            ("count_trawlers", {"trawlers": 5}),
            ("count_gulls", {"gulls": 11}),
        )
        await say(player, stage, "What passed?", "A lot.")
        stage.transport.calls(("count_gulls", {"gulls": 1}), ("count_sails", {"sails": "four"}))
        stage.transport.calls(("count_trawlers", {"trawlers": 4}))
        await say(player, stage, "And now?", "A little.")
        for name in ("sails", "ferries", "trawlers", "gulls"):
            assert await player.run_command(name, "many") == "Write a number."
            assert await player.run_command(name, "9") is None
        await say(player, stage, "Nine of each.", "As you say.")


@scene
async def lookup(stage: Stage) -> None:
    async with stage.playing(folder("examples/lookup")) as player:
        await say(player, stage, "The Concordia is a wreck.", "So it is.")
        where = [{"field": "master.name", "op": "eq", "value": "Ruth"}]
        stage.transport.calls(
            ("ships_db", {"where": where}),
            ("ships_db", {"sort": "length", "descending": True, "fields": ["name"], "limit": 2}),
            ("wrecks", {"search": "1883"}),
            ("almanac", {"query": "fog noon"}),
            ("search_history", {"query": "wreck", "around": 1}),
        )
        stage.transport.calls(("almanac", {"query": "x", "limit": 99}), ("wrecks", {}))
        await say(player, stage, "Look everything up.", "Done.")


@scene
async def sub_agents(stage: Stage) -> None:
    async with stage.playing(folder("examples/sub-agents"), worker_model="small") as player:
        await say(player, stage, "The lamp is called Agnes.", "Agnes it is.")
        stage.transport.calls(("forecaster", {"hour": 6, "detail": "short"}))
        stage.transport.replies("Rain by six.")
        await say(player, stage, "Tomorrow?", "Rain.")
        stage.transport.calls(("archivist", {"question": "Who is Agnes?"}), ("forecaster", {}))
        stage.transport.replies(
            "I shall look.",
            ("search_history", {"query": "Agnes"}),
            ("old_papers", {"query": "reef"}),
        )
        stage.transport.replies("", ("memory_remember", {"key": "Agnes", "value": "the lamp"}))
        stage.transport.replies("", ("no_such_tool", {}), ("memory_recall", "{broken"))
        stage.transport.replies("Agnes is the lamp.")
        await say(player, stage, "Who is Agnes?", "The lamp.")
        stage.transport.calls(("archivist", {"question": "Once more?"}))
        for _ in range(4):
            stage.transport.replies("Looking.", ("memory_recall", {}))
        stage.transport.replies("Nothing new.")
        await say(player, stage, "Is that all?", "That is all.")


@scene
async def sub_agents_that_spent_their_tokens(stage: Stage) -> None:
    limits = {"response": 4_000, "conversation": 50_000}
    async with stage.playing(folder("examples/sub-agents"), limits=limits) as player:
        stage.transport.calls(("archivist", {"question": "What?"}), ("forecaster", {"hour": 1}))
        stage.transport.replies("Looking.", ("memory_recall", {}), tokens=3_990)
        await say(player, stage, "Ask them both.", "They are tired.")


@scene
async def default_state(stage: Stage) -> None:
    async with stage.playing(folder("examples/default-state")) as player:
        stage.transport.calls(("memory_remember", {"key": "lamp", "value": "has a new wick"}))
        await say(player, stage, "The lamp is mended.", "I noted it.")
        stage.transport.calls(("memory_forget", {"key": "mail boat"}), ("memory_recall", {}))
        await say(player, stage, "Forget the mail boat.", "Forgotten.")
        await player.new_conversation()
        await say(player, stage, "What do you know?", "What I knew at first.")


@scene
async def sample(stage: Stage) -> None:
    async with stage.playing(folder("web/sample"), temperature=0.8, max_tokens=400) as player:
        await say(player, stage, "The Drowned Bell.", "The water is *very* still.")
        roll = ("roll_dice", {"sides": 20, "count": 2, "modifier": 1, "reason": "the rope"})
        stage.transport.calls(roll, text="*The mug rattles.*")
        await say(player, stage, "I pull the rope.", "It holds.")
        assert await player.run_command("roll", "2d6+1") is None
        assert await player.run_command("roll", "nine dice") is not None
        stage.transport.calls(("roll_dice", {}), ("roll_dice", {"sides": 1}), ("roll", {}))
        await say(player, stage, "And again?", "It does not hold.")
        player.configure(temperature=None, top_p=0.9, model="bigger")
        await say(player, stage, "I swim.", "You swim.")
