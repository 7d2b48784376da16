"""Earlier turns are encoded once; what is sent never depends on what was kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae.conversation.entries import Entry, ToolCall
from personae.conversation.turns import is_said
from personae.llm.request.body import build_body, user_message
from personae.llm.request.encoded import encoded_body, spread
from personae.llm.request.token_estimate import estimate_prompt
from personae.turn.request.earlier_turns import STEP, EarlierTurns

from tests.player.support import World, agent, package, playing


def entry(number, role="user", content="text", **fields):
    return Entry(id=f"e{number:010d}", role=role, content=content, at=number, **fields)


def plain(entries):
    """What is sent of earlier turns, made anew."""
    return [
        {"role": e.role, "content": e.content}
        for e in entries
        if is_said(e) and (e.role == "user" or e.content.strip())
    ]


def sent(stretch):
    return [] if stretch is None else list(spread([stretch]))


ENTRIES = st.builds(
    entry,
    st.integers(0, 9),
    st.sampled_from(["user", "assistant", "tool", "log"]),
    st.sampled_from(["", " ", "one", 'two "quoted"', "drei \N{SNOWMAN}", "[]},{"]),
    rejected=st.booleans(),
)


@given(st.lists(st.tuples(st.lists(ENTRIES, max_size=6), st.integers(0, 6), st.booleans())))
def test_whatever_changes_it_is_as_if_made_anew(changes):
    kept, entries = EarlierTurns(), []
    for new, at, replaces in changes:
        entries[at : at + len(new) * replaces] = new
        end = max(0, len(entries) - at)
        assert sent(kept.stretch(entries, end)) == plain(entries[:end])
        assert kept.stretch(entries, end) == EarlierTurns().stretch(entries, end)


def test_a_body_says_and_weighs_the_same_as_with_single_messages():
    entries = [
        entry(1, content="Hi \N{SNOWMAN}"),
        entry(2, "assistant", "", tool_calls=(ToolCall("c", "t", "{}", 1),)),
        entry(3, "tool", "done", tool_call_id="c"),
        entry(4, "assistant", "half of a pair: \ud83c"),
        entry(5, "log", "noted"),
    ]
    parts = [EarlierTurns().stretch(entries, len(entries)), user_message("Go on")]
    short, long = ({"model": "m", **build_body(list(m))} for m in (parts, spread(parts)))
    sent_short, sent_long = (json.loads("".join(encoded_body(body))) for body in (short, long))
    assert sent_short == sent_long == long
    assert long["messages"][1]["content"] == "half of a pair: \ufffd"
    assert estimate_prompt(short) == estimate_prompt(long)


@pytest.mark.parametrize("messages", [[], [user_message("x"), user_message("y")]])
def test_a_body_without_earlier_turns(messages):
    body = {"model": "\udc00", "messages": messages}
    text = "".join(encoded_body(body))
    assert json.loads(text) == {"model": "\ufffd", "messages": messages}
    text.encode()


async def test_a_long_history_is_taken_in_steps():
    kept, pauses = EarlierTurns(), []
    entries = [entry(number, content=f"Message {number}") for number in range(3 * STEP + 7)]

    async def pause():
        pauses.append(len(kept._entries))

    await kept.keep_up(entries, len(entries) - 1, pause)
    assert pauses == [STEP, 2 * STEP, 3 * STEP]
    assert sent(kept.stretch(entries, len(entries) - 1)) == plain(entries[:-1])
    pauses.clear()
    await kept.keep_up([*entries, entry(999)], len(entries), pause)
    assert pauses == []


async def test_requests_after_edits_send_what_is_there_now():
    world = World({"a": {"onToolCall": lambda *_: "done"}})
    async with playing(world, package(agent("a", "act"), instructions="", system_prompt="")) as p:
        for turn in range(3):
            world.transport.calls(("act", {}), text=f"round {turn}")
            world.transport.says(f"answer {turn}")
            await p.send(f"message {turn}")
        entries = [e.id for e in p.entries]
        await p.edit(entries[0], "changed")
        await p.reject(entries[7])
        world.transport.says("another answer")
        await p.regenerate()
        assert spoken(world) == [
            "changed", "round 0", "answer 0", "message 1", "message 2",
        ]  # fmt: skip
        await p.delete(entries[4])
        world.transport.says("fourth")
        await p.send("message 3")
        assert spoken(world) == [
            "changed", "round 0", "answer 0", "message 2", "another answer", "message 3",
        ]  # fmt: skip


def spoken(world):
    return [message["content"] for message in world.transport.bodies[-1]["messages"]]
