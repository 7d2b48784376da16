"""studio.callModel, and sub-agents with granted tools."""

from __future__ import annotations

import asyncio

import pytest
from personae.errors import AgentError, ModelError, PersonaeError
from personae.package.model import SubAgent
from personae.turn.studio.call_model import call_messages, reply_tokens

from tests.fakes import FakeResponse
from tests.player.support import World, agent, heard, package, playing, tool
from tests.turn.test_bridge import ask

MODEL = ("studio.model", "studio.grants")


async def body_of(*arguments, **settings):
    """The request that one callModel makes."""
    world = World()
    assert (
        await ask("callModel", *arguments, world=world, replies=["Short."], **settings) == "Short."
    )
    return world.transport.bodies[1]


async def test_a_plain_call_goes_to_the_worker_model_without_streaming():
    body = await body_of("Be brief.", [{"role": "user", "content": "Hi"}], worker_model="small")
    assert body["model"] == "small"
    assert body["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
    ]
    assert (body["stream"], body["max_tokens"]) == (False, 1024)
    assert "tools" not in body
    assert "temperature" not in body


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ({}, "small"),
        ({"model": "worker"}, "small"),
        ({"model": "main"}, "big"),
        ({"model": None}, "small"),
    ],
)
async def test_worker_and_main_are_the_users_own_models(options, model):
    assert (await body_of("x", [], 10, options, worker_model="small"))["model"] == model


async def test_without_a_worker_model_the_main_one_works():
    assert (await body_of("x", []))["model"] == "big"


async def test_a_model_id_is_refused():
    code, message = await ask("callModel", "x", [], 10, {"model": "gpt-9"})
    assert (code, "'worker' or 'main'" in message) == ("model_not_allowed", True)


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            FakeResponse([b'{"error": {"message": "org-mine of me@home.example, http://10.0.0.5"}}'],
                         status=401),
            "model_unauthorized",
            "The provider refused the API key (HTTP 401).",
        ),
        (FakeResponse([b"<html><title>my router"]), "model_not_json",
         "The model gave no answer (HTTP 200)."),
        (
            ModelError("model_bad_settings", "http://10.0.0.5/v1 is none.", url="http://10.0.0.5"),
            "model_bad_settings",
            "The model gave no answer.",
        ),
    ],
)  # fmt: skip
async def test_a_failure_tells_agents_nothing_of_the_user(answer, code, said):
    world = World()
    asked = asyncio.ensure_future(
        ask("callModel", "x", [], world=world, replies=[answer], base_url="http://10.0.0.5/v1")
    )
    await world.clock.advance(30_000)
    assert await asked == (code, said)


async def test_sampling_options_are_passed_on():
    body = await body_of("x", [], 10, {"temperature": 0.5, "topP": 0.9}, temperature=1.5)
    assert (body["temperature"], body["top_p"]) == (0.5, 0.9)


@pytest.mark.parametrize(
    ("wanted", "tokens"),
    [(None, 1024), (1, 1), (0, 1), (-5, 1), (8192, 8192), (1e9, 8192), (2.7, 2), (True, 1024)],
)
def test_max_tokens_is_clamped(wanted, tokens):
    assert reply_tokens(wanted) == tokens


def test_unusable_messages_are_dropped():
    messages = [
        {"role": "user", "content": "keep", "extra": 1},
        {"role": "tool", "content": "drop"},
        {"role": "user", "content": ["drop"]},
        {"role": "assistant"},
        "drop",
        {"role": "assistant", "content": "keep"},
        {"role": "system", "content": "keep"},
    ]
    assert call_messages({"systemPrompt": "", "messages": messages}) == [
        {"role": "user", "content": "keep"},
        {"role": "assistant", "content": "keep"},
        {"role": "system", "content": "keep"},
    ]


async def test_an_agent_that_uses_the_model_has_two_minutes():
    async def slow(name, args, store, studio, context):
        await asyncio.sleep(3600)

    for apis, deadline in (((), 8_000), (MODEL, 120_000)):
        world = World({"a": {"onToolCall": slow}})
        world.transport.calls(("act", {}))
        world.transport.says("Done.")
        async with playing(world, package(agent("a", "act", apis=apis))) as player:
            sending = asyncio.ensure_future(player.send("Go"))
            await world.clock.advance(deadline - 1)
            assert not sending.done()
            await world.clock.advance(2)
            assert (await sending)["content"] == "Done."
        assert f"{deadline // 1000} s" in world.transport.bodies[-1]["messages"][-1]["content"]


# Sub-agents.

LOOK = tool(
    "look", {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
)


def household(meta=None, answers=None, **sub):
    """A sub-agent ``s.keeper`` with a shared agent and a private one; its world."""

    async def keep(name, args, store, studio, context):
        try:
            answer = await studio.request("callModel", "You keep things.", [], 10)
        except PersonaeError as error:
            answer = f"refused: {error.message}"
        if answers is not None:
            answers.append(context)
        return answer

    def look(name, args, store, studio, context):
        store.setdefault("looked", []).append([args["at"], context["toolCallId"]])
        return f"saw {args['at']}"

    def remember(name, args, store, studio, context):
        store["last"] = context["toolCallId"]
        return "remembered"

    world = World(
        {
            "s.keeper": {"onToolCall": keep},
            "s.eyes": {"onToolCall": look},
            "s.keeper.memory": {"onToolCall": remember},
        }
    )
    own = agent("s.keeper.memory", "remember", config={"implementation": "studio.memory-store"})
    granted = {"shared": ("s.eyes",), "private": (own,), **sub}
    keeper = agent(
        "s.keeper",
        "keeper",
        apis=MODEL,
        config={"meta": {"name": "keeper"}, "promptBody": "Prompt body"},
        sub_agent=SubAgent(meta or {"name": "keeper"}, "Prompt body", **granted),
    )
    return world, package(keeper, agent("s.eyes", LOOK))


async def test_granted_tools_are_offered_dispatched_and_numbered():
    answers: list = []
    world, character = household(answers=answers)
    world.transport.calls(("keeper", {}))
    world.transport.replies("", ("look", {"at": "door"}), ("remember", {}))
    world.transport.replies("The door is shut.")
    world.transport.says("It is shut.")
    async with playing(world, character) as player:
        calls = heard(player, "toolCall")
        await player.send("Is it shut?")
        assert [call["toolName"] for call in calls] == ["look", "remember", "keeper"]
        assert await player.agent_store("s.eyes") == {"looked": [["door", 2]]}
        assert await player.agent_store("s.keeper.memory") == {"last": 3}
        [outer] = [call for entry in player.entries for call in entry.tool_calls]
        assert outer.number == 1
        assert [(inner.name, inner.number) for inner in outer.granted] == [
            ("look", 2),
            ("remember", 3),
        ]
        assert player.entries[2].content == "The door is shut."
        await player.truncate(player.entries[0].id)
    first, second = world.transport.bodies[1:3]
    assert [t["function"]["name"] for t in first["tools"]] == ["look", "remember"]
    assert [m["role"] for m in second["messages"]] == ["system", "assistant", "tool", "tool"]
    assert [m["content"] for m in second["messages"][2:]] == ["saw door", "remembered"]
    assert answers[0]["config"] == {"meta": {"name": "keeper"}, "promptBody": "Prompt body"}
    offered = [t["function"]["name"] for t in world.transport.bodies[0]["tools"]]
    assert offered == ["keeper", "look"], "private tools are the sub-agent's alone"


async def test_bad_granted_calls_answer_the_inner_model_and_use_no_number():
    world, character = household()
    world.transport.calls(("keeper", {}))
    world.transport.replies("", ("look", {}), ("keeper", {}))
    world.transport.replies("Sorry.")
    world.transport.says("Hm.")
    async with playing(world, character) as player:
        await player.send("Go")
        assert [c.granted for e in player.entries for c in e.tool_calls] == [()]
    told = [m["content"] for m in world.transport.bodies[2]["messages"] if m["role"] == "tool"]
    assert "at" in told[0] and told[0].startswith("Error: ")
    assert "no tool 'keeper'" in told[1]


@pytest.mark.parametrize(
    ("meta", "rounds"), [({}, 5), ({"maxRounds": 2}, 2), ({"maxRounds": 99}, 10)]
)
async def test_the_loop_ends_after_its_rounds_with_a_note(meta, rounds):
    world, character = household(meta)
    world.transport.calls(("keeper", {}))
    for _ in range(rounds):
        world.transport.replies("", ("remember", {}))
    world.transport.replies("That is all.")
    world.transport.says("Ok.")
    async with playing(world, character) as player:
        await player.send("Go")
        result = next(e for e in player.entries if e.role == "tool").content
    assert result.startswith("That is all.\n\n[")
    assert "last round" in result
    assert world.transport.bodies[-2]["tool_choice"] == "none"


async def test_every_round_is_metered_and_a_cap_between_rounds_ends_the_loop_with_a_note():
    world, character = household()
    world.transport.calls(("keeper", {}))
    world.transport.replies("So far: nothing.", ("remember", {}), tokens=180)
    world.transport.replies("Still nothing.", ("remember", {}), tokens=180)
    world.transport.says("Ok.")
    async with playing(world, character, limits={"response": 400}) as player:
        await player.send("Go")
        result = next(e for e in player.entries if e.role == "tool")
        assert player.agents()[0]["tokensSpent"]["response"] == 360
    assert result.ok
    assert result.content.startswith("Still nothing.\n\n[")
    assert "budget exhausted for this response" in result.content


async def test_a_cap_spent_before_the_first_round_refuses():
    world, character = household()
    world.transport.calls(("keeper", {}))
    world.transport.says("Ok.")
    async with playing(world, character, limits={"response": 0}) as player:
        await player.send("Go")
        result = next(e for e in player.entries if e.role == "tool").content
    assert "budget exhausted for this response" in result


async def test_a_granted_agent_answers_under_its_own_api_lines():
    async def look(name, args, store, studio, context):
        return await studio.request("history.search", "x")

    world, character = household()
    world.sandbox.agents["s.eyes"]["onToolCall"] = look
    world.transport.calls(("keeper", {}))
    world.transport.replies("", ("look", {"at": "x"}))
    world.transport.replies("No.")
    world.transport.says("Ok.")
    async with playing(world, character) as player:
        await player.send("Go")
    [told] = [m["content"] for m in world.transport.bodies[2]["messages"] if m["role"] == "tool"]
    assert "@api studio.history" in told


async def test_a_chain_that_leads_back_to_an_agent_is_refused():
    """Two sub-agents that are granted to each other."""

    async def keep(name, args, store, studio, context):
        return await studio.request("callModel", "x", [])

    world = World({"s.a": {"onToolCall": keep}, "s.b": {"onToolCall": keep}})
    character = package(
        agent("s.a", "a", apis=MODEL, sub_agent=SubAgent({}, "", shared=("s.b",))),
        agent("s.b", "b", apis=MODEL, sub_agent=SubAgent({}, "", shared=("s.a",))),
    )
    world.transport.calls(("a", {}))
    world.transport.replies("", ("b", {}))
    world.transport.replies("", ("a", {}))
    world.transport.replies("b gives up")
    world.transport.replies("a gives up")
    world.transport.says("Ok.")
    async with playing(world, character) as player:
        await player.send("Go")
        assert player.entries[2].content == "a gives up"
    told = [m["content"] for m in world.transport.bodies[3]["messages"] if m["role"] == "tool"]
    assert "cannot be called while it answers" in told[0]


@pytest.mark.parametrize(
    ("ref", "store"),
    [
        ("memory", {"mood": "calm"}),
        ("studio.memory-store", {"mood": "calm"}),
        ("s.eyes", {"seen": 3}),
    ],
)
async def test_read_store_by_short_id_implementation_or_shared_id(ref, store):
    read = []

    async def keep(name, args, store, studio, context):
        read.append(await studio.request("grants.readStore", ref))

    world, character = household()
    world.sandbox.agents["s.keeper"]["onToolCall"] = keep
    world.transport.calls(("keeper", {}))
    world.transport.says("Ok.")
    seeds = {"s.keeper.memory": {"mood": "calm"}, "s.eyes": {"seen": 3}}
    async with playing(world, package(*character.agents, default_stores=seeds)) as player:
        await player.send("Go")
    assert read == [store]


async def test_read_store_knows_the_callers_grants_only():
    refused = []

    async def keep(name, args, store, studio, context):
        for ref in ("s.keeper", "s.other", ""):
            with pytest.raises(PersonaeError) as caught:
                await studio.request("grants.readStore", ref)
            refused.append(caught.value.code)

    world, character = household()
    world.sandbox.agents["s.keeper"]["onToolCall"] = keep
    world.transport.calls(("keeper", {}))
    world.transport.says("Ok.")
    async with playing(world, package(*character.agents, agent("s.other"))) as player:
        await player.send("Go")
    assert refused == ["not_granted"] * 3


async def test_other_agents_hear_of_the_sub_agents_call_not_of_its_granted_ones():
    told = []
    world, character = household()
    world.sandbox.agents = {
        **world.sandbox.agents,
        "z": {"onAfterToolCall": lambda event, *_: told.append(event["toolName"])},
    }
    world.transport.calls(("keeper", {}))
    world.transport.replies("", ("remember", {}))
    world.transport.replies("Done.")
    world.transport.says("Ok.")
    listener = agent("z", hooks=("afterToolCall",))
    async with playing(world, package(*character.agents, listener)) as player:
        await player.send("Go")
    assert told == ["keeper"]


async def test_private_agents_hear_of_edits_that_take_their_calls():
    told = []
    world, character = household()
    private = character.agents[0].sub_agent.private[0]
    own = agent(private.agent_id, "remember", hooks=("afterUserEdit",), config=private.config)
    sub = SubAgent({}, "", private=(own,))
    world.sandbox.agents["s.keeper.memory"]["onAfterUserEdit"] = lambda event, *_: told.append(
        event
    )
    world.transport.calls(("keeper", {}))
    world.transport.replies("", ("remember", {}))
    world.transport.replies("Done.")
    world.transport.says("Ok.")
    async with playing(
        world, package(agent("s.keeper", "keeper", apis=MODEL, sub_agent=sub))
    ) as player:
        await player.send("Go")
        await player.clear()
    assert told == [{"deletedToolCallIds": [1, 2], "lastViableToolCallId": 0}]


async def test_a_model_that_fails_is_an_error_the_agent_can_catch():
    world, character = household()
    world.transport.calls(("keeper", {}))
    world.transport.script.append(AgentError("boom", "boom"))
    world.transport.says("Ok.")
    async with playing(world, character) as player:
        await player.send("Go")
        assert next(e for e in player.entries if e.role == "tool").content == "refused: boom"
