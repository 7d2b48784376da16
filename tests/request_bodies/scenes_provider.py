"""What single providers refuse, failures that pass, and replies of other shapes."""

from __future__ import annotations

import pytest
from personae import CharacterPlayer
from personae.errors import ModelError

from tests.fakes import FakeResponse, sse, tool_delta
from tests.request_bodies.scenes_faults import MOODY
from tests.request_bodies.stage import Stage, folder, say, scene

SAMPLE = folder("web/sample")


async def refused(player: CharacterPlayer, stage: Stage, text: str, *messages: str) -> None:
    """A message whose request is refused with each of these words, and then answered."""
    for message in messages:
        stage.transport.refuses(400, message)
    await say(player, stage, text, "Yes.")


@scene
async def refused_fields(stage: Stage) -> None:
    async with stage.playing(SAMPLE, temperature=0.5, top_p=0.5, max_tokens=100) as player:
        await refused(player, stage, "One", "Unrecognized field: isFile")
        await refused(player, stage, "Two", "stream_options is not supported")
        await refused(
            player,
            stage,
            "Three",
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.",
        )
        await refused(player, stage, "Four", "temperature and top_p cannot both be specified")
        await say(player, stage, "Five", "All that is known.")
        player.configure(model="other")
        await say(player, stage, "Six", "And of another model.")


@scene
async def refused_contents(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        stage.transport.calls(("act", {"how": "one"}))
        stage.transport.refuses(400, "messages: content must not be null")
        await say(player, stage, "Act.", "Acted.")
        stage.transport.says("Once more.")
        await player.continue_()
        await refused(player, stage, "One", "roles must alternate user/assistant")
        stage.transport.calls(("act", {"how": "two"}), text="With words.")
        await say(player, stage, "Act again.", "Acted again.")


@scene
async def reasoning(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        thought = sse({"choices": [{"delta": {"reasoning_content": "Let me think."}}]})
        call = tool_delta(0, "act", {"how": "thought"})
        end = sse({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
        stage.transport.script.append(FakeResponse([thought, call, end, b"data: [DONE]\n\n"]))
        stage.transport.says("<think>Hm.</think>Thought.")
        await player.send("Think.")
        await refused(player, stage, "And?", "Extra inputs are not permitted: reasoning_content")
        await say(player, stage, "Well?", "Nothing more.")


@scene
async def reasoning_that_is_missed(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        stage.transport.calls(("act", {"how": "one"}), text="Quickly.")
        stage.transport.refuses(400, "Missing reasoning_content in the assistant message")
        await say(player, stage, "Act.", "Acted.")
        await say(player, stage, "And?", "Nothing more.")


@scene
async def failures_that_pass(stage: Stage) -> None:
    async with stage.playing(SAMPLE) as player:
        stage.transport.refuses(429, "slow down", retry_after="3")
        stage.transport.refuses(503, "overloaded")
        stage.transport.says("At last.")
        await stage.meanwhile(player.send("Are you there?"))
        stage.transport.refuses(401, "no such key")
        with pytest.raises(ModelError):
            await player.send("And now?")
        await say(player, stage, "With another key?", "Yes.")


@scene
async def replies_of_other_shapes(stage: Stage) -> None:
    async with stage.playing(MOODY) as player:
        pieces = [
            sse({"choices": [{"delta": {"tool_calls": [
                {"function": {"name": "act", "arguments": {"how": "an object"}}},
                {"id": "", "function": {"name": "act", "arguments": '{"how": "no id"}'}},
            ]}}]}),
            sse({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        ]  # fmt: skip
        stage.transport.script.append(FakeResponse(pieces))
        stage.transport.script.append(
            FakeResponse(
                [tool_delta(0, "act", '{"how": "cut'),
                 sse({"choices": [{"delta": {}, "finish_reason": "length"}]})]
            )
        )  # fmt: skip
        await player.send("Act.")
        await say(player, stage, "What was that?", "Odd.")
        stage.transport.says("")
        with pytest.raises(ModelError):
            await player.send("Say nothing.")
        await say(player, stage, "Thanks.", "For nothing.")
