"""The five hook events: when, for whom, with which payload, once, and without harm."""

from __future__ import annotations

import asyncio

import pytest
from personae.errors import ModelError

from tests.player.support import World, agent, breathe, heard, package, playing, roles


class Recorder:
    """Agents whose hooks write down what happens, in order."""

    def __init__(self, *ids: str, **functions) -> None:
        self.events: list[tuple[str, str, dict]] = []
        self.contexts: list[dict] = []
        self.world = World({id_: {**self._hooks(id_), **functions} for id_ in ids})

    def _hooks(self, id_):
        return {
            f"on{name[0].upper()}{name[1:]}": self._hook(id_, name)
            for name in (
                "conversationStart",
                "beforeResponse",
                "afterResponse",
                "afterToolCall",
                "afterUserEdit",
            )
        }

    def _hook(self, id_, name):
        def hook(event, store, studio, context):
            self.events.append((id_, name, event))
            self.contexts.append(context)
            store.setdefault("heard", []).append(name)
            return "ignored"

        return hook

    def of(self, name):
        return [(id_, event) for id_, heard_name, event in self.events if heard_name == name]


ALL = ("conversationStart", "beforeResponse", "afterResponse", "afterToolCall", "afterUserEdit")


async def test_the_order_of_events_in_a_turn_with_a_tool_call():
    def act(name, args, store, studio, context):
        recorder.events.append((context["agentId"], "tool", args))
        return "done"

    def load(store, studio, context):
        recorder.events.append((context["agentId"], "load", {}))

    recorder = Recorder("a", "b", onToolCall=act, onLoad=load)
    world = recorder.world
    world.transport.calls(("act", {"n": 1}))
    world.transport.says("Done.")
    agents = agent("a", "act", hooks=ALL, preload=True), agent("b", hooks=ALL, preload=True)
    async with playing(world, package(*agents)) as player:
        await player.send("Do it")
    assert [(id_, name) for id_, name, _ in recorder.events] == [
        ("a", "conversationStart"),
        ("b", "conversationStart"),
        ("a", "load"),
        ("b", "load"),
        ("a", "beforeResponse"),
        ("b", "beforeResponse"),
        ("a", "load"),
        ("b", "load"),
        ("a", "tool"),
        ("b", "afterToolCall"),
        ("a", "afterResponse"),
        ("b", "afterResponse"),
        ("a", "load"),
        ("b", "load"),
    ]


async def test_payloads_and_context():
    recorder = Recorder("a", "b", onToolCall=lambda name, args, *_: f"did {args['n']}")
    world = recorder.world
    world.transport.calls(("act", {"n": 1}), ("nothing", {}))
    world.transport.says("Done.")
    async with playing(world, package(agent("a", "act"), agent("b", hooks=ALL))) as player:
        await player.send("Do it")
    call = {"args": {"n": 1}, "result": "did 1", "toolCallId": 1}
    assert [(name, event) for _, name, event in recorder.events] == [
        ("conversationStart", {"isNewConversation": True}),
        ("beforeResponse", {"userText": "Do it", "regenerate": False, "respondingToHuman": True}),
        ("afterToolCall", {"agentId": "a", "toolName": "act", **call}),
        (
            "afterResponse",
            {
                "userText": "Do it",
                "responseText": "Done.",
                "toolCalls": [{"name": "act", **call}],
                "stopped": False,
                "toolsOffered": True,
            },
        ),
    ]
    assert {context["invokedBy"] for context in recorder.contexts} == {"hook"}
    assert not any("toolCallId" in context for context in recorder.contexts)


async def test_conversation_start_fires_once_per_agent_and_conversation():
    recorder = Recorder("a")
    world, character = recorder.world, package(agent("a", hooks=("conversationStart",)))
    world.transport.says("Hi")
    async with playing(world, character) as player:
        await player.send("Hello")
    async with playing(world, character) as player:
        await breathe()
        await player.new_conversation()
        await breathe()
        assert await player.agent_store("a") == {"heard": ["conversationStart"]}
    assert recorder.of("conversationStart") == [("a", {"isNewConversation": True})] * 2


async def test_an_agent_added_later_hears_that_the_conversation_is_not_new():
    recorder = Recorder("old", "new")
    world = recorder.world
    world.transport.says("Hi")
    old = agent("old", hooks=("conversationStart",))
    async with playing(world, package(old)) as player:
        await player.send("Hello")
    new = agent("new", hooks=("conversationStart",))
    async with playing(world, package(old, new)):
        await breathe()
    assert recorder.events[1:] == [("new", "conversationStart", {"isNewConversation": False})]


async def test_a_start_hook_that_fails_does_not_fire_again_and_leaves_the_seed():
    tries = []

    def fail(event, store, studio, context):
        tries.append(event)
        store["x"] = 2
        raise ValueError("no")

    world = World({"a": {"onConversationStart": fail}})
    character = package(agent("a", hooks=("conversationStart",)), default_stores={"a": {"x": 1}})
    for _ in range(2):
        async with playing(world, character) as player:
            await breathe()
            assert await player.agent_store("a") == {"x": 1}
    assert len(tries) == 1


async def test_regenerate_says_so():
    recorder = Recorder("a")
    recorder.world.transport.says("One")
    recorder.world.transport.says("Two")
    async with playing(recorder.world, package(agent("a", hooks=("beforeResponse",)))) as player:
        await player.send("Hello")
        await player.regenerate()
    assert [event["regenerate"] for _, event in recorder.of("beforeResponse")] == [False, True]
    assert {event["userText"] for _, event in recorder.of("beforeResponse")} == {"Hello"}


@pytest.mark.parametrize("text", ["Half a ", ""])
async def test_a_stopped_response_is_reported_unless_it_produced_nothing(text):
    recorder, gate = Recorder("a"), asyncio.Event()
    recorder.world.transport.says(*([text] if text else []), gate)
    async with playing(recorder.world, package(agent("a", hooks=("afterResponse",)))) as player:
        sending = asyncio.ensure_future(player.send("Hello"))
        await breathe()
        player.stop()
        await sending
    events = [event for _, event in recorder.of("afterResponse")]
    assert [(e["responseText"], e["stopped"]) for e in events] == ([(text, True)] if text else [])


async def test_an_errored_response_is_reported_as_stopped():
    recorder = Recorder("a")
    recorder.world.transport.says("Half", ModelError("reset", "reset"))
    async with playing(recorder.world, package(agent("a", hooks=("afterResponse",)))) as player:
        with pytest.raises(ModelError):
            await player.send("Hello")
    [(_, event)] = recorder.of("afterResponse")
    assert (event["responseText"], event["stopped"]) == ("Half", True)
    assert event["toolsOffered"] is False


async def test_after_tool_call_is_not_for_the_caller_and_not_after_a_failure():
    def act(name, args, store, studio, context):
        if args.get("fail"):
            raise ValueError("no")
        return "ok"

    recorder = Recorder("a", "b", "c", onToolCall=act)
    world = recorder.world
    world.transport.calls(("act", {"fail": True}), ("act", {}), ("unknown", {}))
    world.transport.says("Done.")
    hooks = ("afterToolCall",)
    agents = agent("a", hooks=hooks), agent("b", "act", hooks=hooks), agent("c", hooks=hooks)
    async with playing(world, package(*agents)) as player:
        await player.send("Do it")
    assert [(id_, e["toolCallId"]) for id_, e in recorder.of("afterToolCall")] == [
        ("a", 2),
        ("c", 2),
    ]


async def test_a_handler_cannot_change_the_result_the_model_gets():
    def meddle(event, store, studio, context):
        event["result"] = "changed"
        return "changed"

    world = World({"a": {"onToolCall": lambda *_: "real"}, "b": {"onAfterToolCall": meddle}})
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    agents = agent("a", "act"), agent("b", hooks=("afterToolCall",))
    async with playing(world, package(*agents)) as player:
        await player.send("Do it")
    assert world.transport.bodies[-1]["messages"][-1]["content"] == "real"


async def test_only_agents_that_declare_and_export_a_hook_are_called():
    recorder = Recorder("declared", "exported")
    recorder.world.sandbox.agents["declared"].pop("onAfterResponse")
    recorder.world.transport.says("Hi")
    agents = agent("declared", hooks=("afterResponse",)), agent("exported")
    async with playing(recorder.world, package(*agents)) as player:
        errors = heard(player, "error")
        await player.send("Hello")
        assert errors == []
    assert recorder.events == []


async def test_a_hook_that_fails_or_hangs_is_logged_and_the_next_one_runs():
    async def hang(event, store, studio, context):
        store["half"] = True
        await asyncio.sleep(3600)

    def fail(event, store, studio, context):
        raise ValueError("no")

    ran = []
    world = World(
        {
            "a": {"onBeforeResponse": hang},
            "b": {"onBeforeResponse": fail},
            "c": {"onBeforeResponse": lambda *_: ran.append("c")},
        }
    )
    world.transport.says("Hi")
    agents = [agent(id_, hooks=("beforeResponse",)) for id_ in "abc"]
    async with playing(world, package(*agents)) as player:
        errors = heard(player, "error")
        sending = asyncio.ensure_future(player.send("Hello"))
        await world.clock.advance(8_000)
        assert (await sending)["content"] == "Hi"
        assert await player.agent_store("a") == {}
        assert [error.detail["agentId"] for error in errors] == ["a", "b"]
        assert player.agent_log("b")[0]["text"].startswith("onBeforeResponse")
    assert ran == ["c"]


async def test_each_store_is_saved_after_its_hook():
    recorder = Recorder("a", "b")
    world = recorder.world
    world.transport.says("Hi")
    hooks = ("afterResponse",)
    async with playing(world, package(agent("a", hooks=hooks), agent("b", hooks=hooks))) as player:
        await player.send("Hello")
        last = [
            [write.key[1] for write in writes if write.table == "stores"]
            for writes in world.storage.commits
        ]
        # Each agent's first record, then the one after its hook.
    assert [keys for keys in last if keys] == [["a"], ["a"], ["b"], ["b"]]


async def test_a_hook_may_log_and_the_response_is_already_stored():
    def after(event, store, studio, context):
        studio.notice("log", f"turn of {context['conversationLength']}")

    world = World({"a": {"onAfterResponse": after}})
    world.transport.says("Hi")
    async with playing(world, package(agent("a", hooks=("afterResponse",)))) as player:
        await player.send("Hello")
        assert roles(player)[-1] == ("log", "turn of 2")
