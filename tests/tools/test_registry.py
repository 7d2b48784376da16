from __future__ import annotations

from personae.package.model import SubAgent
from personae.tools.registry import build_registry

from tests.player.support import World, agent, package, playing


def test_the_first_registration_of_a_name_wins_and_later_ones_are_warned_about():
    registry = build_registry(
        package(
            agent("a.one", "roll", "look", commands={"note": "noteOne"}),
            agent("a.two", "roll", "jump", commands={"note": "noteTwo", "go": "go"}),
        )
    )
    owners = {name: program.agent_id for name, (program, _) in registry.tools.items()}
    assert owners == {"roll": "a.one", "look": "a.one", "jump": "a.two"}
    assert registry.commands["note"][1].handler == "noteOne"
    assert registry.commands["go"][0].agent_id == "a.two"
    messages = [(problem.severity, problem.file, problem.message) for problem in registry.warnings]
    assert [(severity, file) for severity, file, _ in messages] == [
        ("warning", "agents/a.two.js")
    ] * 2
    assert "'roll'" in messages[0][2] and "'a.one'" in messages[0][2]
    assert "'note'" in messages[1][2]


def test_a_repeated_id_is_left_out_whole():
    registry = build_registry(package(agent("a.one", "roll"), agent("a.one", "jump")))
    assert list(registry.tools) == ["roll"]
    assert len(registry.warnings) == 1


def test_tools_are_offered_in_load_order_once():
    registry = build_registry(package(agent("a", "t2", "t1"), agent("b", "t1", "t3")))
    assert [*registry.tools] == [
        "t2",
        "t1",
        "t3",
    ]


def test_private_agents_register_nothing_but_can_be_found():
    own = agent("s.sub.memory", "remember")
    sub = agent("s.sub", "ask", sub_agent=SubAgent({}, "", private=(own,)))
    registry = build_registry(package(sub, agent("z.last")))
    assert list(registry.tools) == ["ask"]
    assert registry.find("s.sub.memory") is own
    assert registry.find("nobody") is None
    assert [p.agent_id for p in registry.everyone()] == ["s.sub", "s.sub.memory", "z.last"]


def test_hooked_agents_in_load_order():
    registry = build_registry(
        package(
            agent("b", hooks=("afterResponse",)),
            agent("x"),
            agent("a", hooks=("beforeResponse", "afterResponse")),
        )
    )
    assert [p.agent_id for p in registry.hooked("afterResponse")] == ["b", "a"]
    assert [p.agent_id for p in registry.hooked("beforeResponse")] == ["a"]


async def test_warnings_are_logged_and_shown(caplog):
    twice = package(agent("a.one", "roll"), agent("a.two", "roll"))
    async with playing(World(), twice) as player:
        assert [problem.file for problem in player.warnings] == ["agents/a.two.js"]
    assert "agents/a.two.js: The tool 'roll'" in caplog.text
