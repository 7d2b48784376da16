from __future__ import annotations

import logging

import pytest
from personae.errors import UsageError
from personae.turn.events import Events


def test_listeners_hear_until_they_unsubscribe():
    events, heard = Events(), []
    off = events.on("token", heard.append)
    events.emit("token", "a")
    off()
    off()
    events.emit("token", "b")
    assert heard == ["a"]


def test_a_listener_that_raises_disturbs_nobody(caplog):
    events, heard = Events(), []

    def fail(payload):
        raise ValueError("mine")

    events.on("token", fail)
    events.on("token", heard.append)
    with caplog.at_level(logging.ERROR, "personae"):
        events.emit("token", "a")
    assert heard == ["a"]
    assert "'token'" in caplog.text


def test_an_unknown_event_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="agentToast"):
        Events().on("tokens", print)
