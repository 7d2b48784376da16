"""What agents reach through ``studio``, by one agent that asks for everything."""

from __future__ import annotations

import pytest
from personae.errors import PersonaeError

from tests.player.support import World, agent, heard, package, playing, roles

APIS = ("studio.history", "studio.context", "studio.model", "studio.grants", "studio.web")


async def ask(
    method, *arguments, world=None, before=(), replies=(), apis=APIS, character=None, **settings
):
    """The bridge's answer to one request made in a tool call, or its refusal (code, message).

    ``before``: what the character said in earlier turns; ``replies``: to the agent's own calls,
    texts or what the transport gives.
    """
    answers = []

    async def act(name, args, store, studio, context):
        try:
            answers.append(await studio.request(method, *arguments))
        except PersonaeError as error:
            answers.append((error.code, error.message))

    world = world or World()
    world.sandbox.agents = {**world.sandbox.agents, "a": {"onToolCall": act}}
    for text in before:
        world.transport.says(text)
    world.transport.calls(("act", {}))
    for reply in replies:
        if isinstance(reply, str):
            world.transport.replies(reply)
        else:
            world.transport.script.append(reply)
    world.transport.says("Done.")
    source = package(agent("a", "act", apis=apis), **(character or {}))
    async with playing(world, source, **settings) as player:
        for text in before:
            await player.send(f"about {text}")
        await player.send("Now")
    return answers[0]


async def test_history_search_and_range():
    assert await ask("history.search", "TEA", before=("tea", "coffee")) == [
        {"role": "user", "content": "about tea", "index": 0},
        {"role": "assistant", "content": "tea", "index": 1},
    ]
    assert await ask("history.range", 1, 3, before=("tea", "coffee")) == [
        {"role": "assistant", "content": "tea", "index": 1},
        {"role": "user", "content": "about coffee", "index": 2},
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".cars.json", "{}"),
        ("sub/a.txt", "A"),
        ("absent.txt", None),
        ("../config.json", None),
        ("/a.txt", None),
        ("sub\\a.txt", None),
        ("./sub/a.txt", None),
    ],
)
async def test_context_files_by_name_dot_files_too(name, text):
    files = {".cars.json": "{}", "sub/a.txt": "A"}
    assert await ask("context.readFile", name, character={"context": files}) == text


@pytest.mark.parametrize(
    ("method", "arguments", "api"),
    [
        ("history.search", ("x",), "studio.history"),
        ("history.range", (0, 1), "studio.history"),
        ("context.readFile", ("x",), "studio.context"),
        ("callModel", ("", []), "studio.model"),
        ("grants.readStore", ("x",), "studio.grants"),
        ("web.fetch", ("https://example.org",), "studio.web"),
    ],
)
async def test_an_undeclared_namespace_is_refused_with_its_api_line(method, arguments, api):
    code, message = await ask(method, *arguments, apis=())
    assert code == "api_not_declared"
    assert f"@api {api}" in message


async def test_a_method_nobody_has():
    code, _ = await ask("conversation.collapse", 3)
    assert code == "unknown_method"


async def test_read_store_without_grants():
    code, message = await ask("grants.readStore", "b")
    assert (code, "no grants" in message) == ("no_grants", True)


async def test_log_is_an_entry_that_survives_and_is_never_sent():
    def act(name, args, store, studio, context):
        studio.notice("log", "Memory stored")

    world = World({"a": {"onToolCall": act}})
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    world.transport.says("Again.")
    async with playing(world, package(agent("a", "act"))) as player:
        logs = heard(player, "agentLog")
        await player.send("Go")
        assert logs == ["Memory stored"]
        await player.send("Go on")
    assert "Memory stored" not in str(world.transport.bodies)
    async with playing(world, package(agent("a", "act"))) as again:
        assert ("log", "Memory stored") in roles(again)
        assert next(e for e in again.entries if e.role == "log").agent_id == "a"


async def test_toast_is_an_event_and_leaves_no_entry():
    world = World({"a": {"onToolCall": lambda *call: call[-2].notice("toast", "Hi!")}})
    world.transport.calls(("act", {}))
    world.transport.says("Hello.")
    async with playing(world, package(agent("a", "act"))) as player:
        toasts = heard(player, "agentToast")
        await player.send("Hello")
        assert toasts == ["Hi!"]
        assert [role for role, _ in roles(player)] == ["user", "assistant", "tool", "assistant"]


async def test_console_output_goes_to_the_agents_log():
    world = World({"a": {"onLoad": lambda store, studio, context: studio.notice("console", "dbg")}})
    world.transport.says("Hello.")
    async with playing(world, package(agent("a", preload=True))) as player:
        await player.send("Hello")
        assert [line["text"] for line in player.agent_log("a")] == ["dbg", "dbg"]


@pytest.mark.parametrize("debug", [True, False])
async def test_calls_of_a_debugged_agent_are_recorded_and_survive(debug):
    def act(name, args, *_):
        world.clock.time += 7
        return f"got {args['n']}"

    world = World({"a": {"onToolCall": act, "jot": lambda *_: "Usage: jot"}})
    world.transport.calls(("act", {"n": 1}))
    world.transport.says("Done.")
    source = package(agent("a", "act", debug=debug, commands={"note": "jot"}))
    async with playing(world, source) as player:
        await player.send("Go")
        await player.run_command("note", "tea")
    async with playing(world, source) as again:
        lines = again.agent_log("a")
    facts = ("function", "args", "result", "milliseconds")
    called = ("onToolCall", '["act",{"n":1}]', "got 1", 7)
    commanded = ("jot", '["tea"]', "Usage: jot", 0)
    assert [tuple(line[fact] for fact in facts) for line in lines] == (
        [called, commanded] if debug else []
    )
    assert all(isinstance(line["at"], int) for line in lines)


async def test_the_context_object():
    seen = []
    world = World({"x.cars": {"onToolCall": lambda *call: seen.append(call[-1])}})
    world.transport.calls(("cars", {}))
    world.transport.says("Done.")
    entry = {"id": "x.cars", "implementation": "studio.agent-db", "contextFile": ".cars.json"}
    async with playing(world, package(agent("x.cars", "cars", config=entry))) as player:
        await player.send("Go")
    assert seen == [
        {
            "invokedBy": "model",
            "conversationLength": 2,
            "characterName": "Ada",
            "agentId": "x.cars",
            "config": entry,
            "toolCallId": 1,
        }
    ]
