"""What an open conversation has once, and all its seats share.

With one character it is a room of one: nothing here asks how many there are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from personae.conversation.changes import AgentsChanged
from personae.errors import PersonaeError
from personae.llm.models import Models
from personae.package.steps import Install
from personae.ports import Clock, Sandbox
from personae.settings import Settings
from personae.storage.activity_log import ActivityLog
from personae.storage.journal import Journal
from personae.turn.display import Display
from personae.turn.events import Events
from personae.turn.stop import Answering, Stopping
from personae.turn.studio.token_caps import Meter
from personae.turn.studio.web_fetch import WebReader


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every conversation of a player finds around it."""

    models: Models
    settings: Callable[[], Settings]
    clock: Clock
    sandbox: Sandbox
    events: Events
    install: Install | None = None
    """See ``Environment.install``."""
    web_reader: WebReader | None = None
    """See ``Environment.web_reader``."""


class Room:
    def __init__(self, surroundings: Surroundings, journal: Journal) -> None:
        self.surroundings = surroundings
        self.journal = journal
        self.events = surroundings.events
        self.models = surroundings.models
        self.clock = surroundings.clock
        self.user_acted = False
        """Whether the user has said or pressed something here since the conversation was opened."""
        self.meter = Meter(
            journal,
            lambda: surroundings.settings().limits,
            lambda: self.events.change(AgentsChanged()),
        )
        self.log = ActivityLog(journal, self.clock, self.events.change)
        self.display = Display(self.events)
        self.stopping = Stopping()

    def begin_answer(self) -> Answering:
        """The user asks for an answer."""
        self.user_acted = True
        self.stopping.answering = answering = Answering()
        self.display.answering(True)
        return answering

    def end_answer(self) -> None:
        """It was delivered, or there will be none."""
        self.stopping.answering = None
        self.display.answering(False)

    def agent_failed(self, error: PersonaeError) -> None:
        """An agent failed beside the conversation, which goes on."""
        self.events.emit("error", error)

    def defect(self, error: Exception) -> None:
        """An error nobody foresaw: on the console, for a bug report."""
        logging.getLogger("personae").error("unexpected error", exc_info=error)
