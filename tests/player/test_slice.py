"""The whole way of a turn through the player, with fakes of the ports."""

from __future__ import annotations

from tests.player.support import World, agent, heard, package, playing, roles


async def test_a_text_reply_is_streamed_stored_and_delivered():
    world = World()
    world.transport.says("Good ", "day.")
    async with playing(world, package()) as player:
        tokens, messages = heard(player, "token"), heard(player, "message")
        assert await player.send("Hello") == {"role": "assistant", "content": "Good day."}
        assert tokens == ["Good ", "day."]
        assert messages == [{"role": "assistant", "content": "Good day."}]
        assert player.get_conversation() == [
            {"id": "e0000000001", "index": 0, "role": "user", "content": "Hello"},
            {"id": "e0000000002", "index": 1, "role": "assistant", "content": "Good day."},
        ]
    assert [m["role"] for m in world.transport.bodies[0]["messages"]] == ["system", "user"]
    assert world.transport.bodies[0]["model"] == "big"
    async with playing(world, package()) as again:
        assert roles(again) == [("user", "Hello"), ("assistant", "Good day.")]


async def test_a_tool_round_reaches_the_agent_and_its_result_the_model():
    def roll(name, args, store, studio, context):
        store["rolls"] = store.get("rolls", 0) + 1
        studio.notice("log", "rolled")
        return f"{name} {args['sides']} {context['toolCallId']} {context['invokedBy']}"

    world = World({"a.dice": {"onToolCall": roll}})
    world.transport.calls(("roll", {"sides": 6}), text="Let me see.")
    world.transport.says("A four!")
    async with playing(world, package(agent("a.dice", "roll"))) as player:
        calls, logs = heard(player, "toolCall"), heard(player, "agentLog")
        assert (await player.send("Roll"))["content"] == "A four!"
        assert calls == [{"agentId": "a.dice", "toolName": "roll", "result": "roll 6 1 model"}]
        assert logs == ["rolled"]
        assert await player.agent_store("a.dice") == {"rolls": 1}
        assert [role for role, _ in roles(player)] == [
            "user",
            "assistant",
            "log",
            "tool",
            "assistant",
        ]
    sent = world.transport.bodies[1]["messages"]
    assert sent[-2]["tool_calls"][0]["function"]["name"] == "roll"
    assert sent[-1] == {"role": "tool", "tool_call_id": "call00001", "content": "roll 6 1 model"}
    async with playing(world, package(agent("a.dice", "roll"))) as again:
        assert await again.agent_store("a.dice") == {"rolls": 1}
        assert ("log", "rolled") in roles(again)
