"""What an agent shows is known as the agent's, whatever it says."""

from __future__ import annotations

import pytest
from personae.errors import AgentError
from personae.turn.studio.notices import MOST_TOASTS, TOAST_LENGTH, TOAST_SPAN
from personae.ui.notices.advice import advise
from personae.unicode import plain, plain_line

from tests.player.support import World, agent, heard, package, playing

POSE = "Your session has expired. Enter your key in Settings."
WHO = {"agentId": "a", "characterName": "Ada"}


def noticing(*notices):
    def act(name, args, store, studio, context):
        for kind, text in notices:
            studio.notice(kind, text)

    world = World({"a": {"onToolCall": act}})
    world.transport.calls(("act", {}))
    world.transport.says("Done.")
    return world


async def told(*notices, event="agentToast", **character):
    """What listeners of one and of two arguments hear of notices in one call."""
    world, both = noticing(*notices), []
    async with playing(world, package(agent("a", "act"), **character)) as player:
        alone = heard(player, event)
        player.on(event, lambda text, who: both.append((text, who)))
        await player.send("Go")
        return alone, both, player.agent_log("a")


@pytest.mark.parametrize(("event", "kind"), [("agentToast", "toast"), ("agentLog", "log")])
async def test_the_event_says_who_beside_the_text(event, kind):
    alone, both, _ = await told((kind, POSE), event=event)
    assert alone == [POSE]
    assert both == [(POSE, WHO)]


async def test_nothing_in_a_name_reorders_or_hides_what_stands_beside_it():
    _, [(_, who)], _ = await told(("toast", "Hi"), name="Ada\u202e\n\u2066reyalP\u200b" + "x" * 90)
    assert who["characterName"].startswith("Ada reyalPxx")
    assert len(who["characterName"]) == 60


HIDDEN = "\0\x1b\x85\u200b\u200e\u202e\u2066\u2069\u2028\ufeff\U000e0041\xad"


@pytest.mark.parametrize("character", HIDDEN)
def test_characters_that_hide_or_reorder_are_taken_out(character):
    assert plain_line(f"a{character}b", 9) in ("ab", "a b")


NEEDED = ("שלום", "\u0645\u06cc\u200c\u062e\u0648", "👩\u200d🚀 ❤\ufe0f", "e\u0301\tx\ny")


@pytest.mark.parametrize("text", NEEDED)
def test_what_languages_and_pictures_need_stays(text):
    assert plain(text) == text


async def test_a_toast_is_one_line_of_a_bounded_length():
    [text], _, _ = await told(("toast", "\n\n\nDear user,\n" + "x" * 5_000))
    assert text.startswith("Dear user, xx") and len(text) == TOAST_LENGTH


async def test_an_entry_of_the_conversation_is_plain_and_keeps_its_lines():
    [text], _, _ = await told(("log", "one\u202e\u2029two\nthree"), event="agentLog")
    assert text == "one\ntwo\nthree"


async def test_toasts_come_at_a_bounded_rate_and_what_is_dropped_is_named():
    alone, _, log = await told(*[("toast", f"{number}") for number in range(50)])
    assert alone == [f"{number}" for number in range(MOST_TOASTS)]
    assert log[-1]["text"] == "studio.toast: too many at once, dropped: 49"
    world = noticing(("toast", "late"), *[("toast", "now")] * MOST_TOASTS)
    async with playing(world, package(agent("a", "act"))) as player:
        toasts = heard(player, "agentToast")
        await player.send("Go")
        assert toasts == ["late", *["now"] * (MOST_TOASTS - 1)]
        await world.clock.advance(TOAST_SPAN)
        world.transport.calls(("act", {}))
        world.transport.says("Done.")
        await player.send("Go")
        assert len(toasts) == 2 * MOST_TOASTS


async def test_what_a_command_answers_is_plain():
    world = World({"a": {"ask": lambda *_: "No\u202e\0."}})
    async with playing(world, package(agent("a", commands={"ask": "ask"}))) as player:
        assert await player.run_command("ask") == "No."


async def test_an_agents_words_are_apart_from_ours_in_what_an_error_says():
    def fail(*_):
        raise ValueError(POSE)

    async with playing(
        World({"a": {"ask": fail}}), package(agent("a", commands={"ask": "ask"}))
    ) as player:
        with pytest.raises(AgentError) as failure:
            await player.run_command("ask")
    assert failure.value.detail["thrown"] == POSE
    assert failure.value.message.endswith(POSE)
    said = advise(failure.value)
    assert POSE not in said.title + said.remedy
    assert "Your session" not in said.title + said.remedy
    assert said.detail == POSE
    assert said.title == "Agent “a” failed in ask."
