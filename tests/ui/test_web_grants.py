"""Web access is granted to what agents declare, not to whatever a link leads to."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from personae.package.declarations import MOST_NAMED, changes, declared
from personae.package.model import SubAgent
from personae.ui.settings import app_settings
from personae.ui.settings.app_settings import Settings, from_record, with_web, without_access

from tests.player.support import agent, package

READER = agent("x.reader", "read", apis=("studio.web",))
GRANTED = declared(package(READER))


def allowed(*agents):
    """Whether a version with these agents may read web pages, when the first one may."""
    settings = with_web(Settings(), "link-1", GRANTED)
    return settings.player_options("link-1", declared(package(*agents)))["web_access"]


def test_the_same_declarations_keep_it():
    again = replace(READER, source="other code", manifest=replace(READER.manifest, version="2"))
    assert allowed(again) is True


SUB = agent("x.sub", apis=("studio.model",), sub_agent=SubAgent({}, "", shared=("x.reader",)))


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        ((agent("x.reader", apis=("studio.web", "studio.history")),), "@api studio.history"),
        (
            (READER, agent("x.spy", apis=("studio.history",))),
            "“x.spy” is new (@api studio.history)",
        ),
        ((agent("x.other", apis=("studio.web",)),), "“x.reader” is gone"),
        ((agent("x.reader", apis=("studio.web",), preload=True),), "now declares @preload"),
        (
            (agent("x.reader", apis=("studio.web",), hooks=("afterResponse",)),),
            "@hook afterResponse",
        ),
        ((READER, SUB), "may call x.reader"),
        ((), "“x.reader” is gone"),
    ],
)
def test_other_declarations_do_not_and_the_user_is_told_which(agents, said):
    assert allowed(*agents) is False
    assert said in " ".join(changes(GRANTED, declared(package(*agents))))


def test_private_agents_count_as_well():
    own = agent("x.sub.spy", apis=("studio.web",))
    sub = replace(SUB, sub_agent=SubAgent({}, "", private=(own,)))
    assert declared(package(sub))["x.sub.spy"] == ["@api studio.web"]


def test_what_is_said_of_a_change_is_plain_and_bounded():
    many = {f"a{number}": ["@api studio.web"] for number in range(50)}
    said = changes({}, {"bad\u202e\n" + "x" * 500: [], **many})
    assert len(said) == MOST_NAMED + 1 and said[-1] == "43 more agents have changed."
    assert all(len(one) < 300 and one.isprintable() for one in said)


def test_a_grant_is_stored_with_what_it_was_given_to():
    settings = with_web(Settings(), "link-1", GRANTED)
    record = json.dumps({"web_access": settings.web_access})
    assert from_record(record).allows_web("link-1", GRANTED)
    assert without_access(settings, {"link-1"}).web_access == {}


@pytest.mark.parametrize("granted", [True, 1, "yes", ["studio.web"], {"x.reader": "studio.web"}])
def test_a_grant_that_does_not_say_to_what_has_to_be_asked_for_again(granted):
    stored = from_record(json.dumps({"web_access": {"link-1": granted, "link-2": False}}))
    assert stored.web_access == {"link-1": {}}
    assert not stored.allows_web("link-1", GRANTED)
    assert not app_settings.Settings().allows_web("link-1", GRANTED)
