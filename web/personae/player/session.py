"""One open conversation: its room, who sits in it, and this tab's hold on it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from personae.conversation.entries import FIRST_MEMBER
from personae.errors import UsageError
from personae.storage.journal import Journal
from personae.storage.leases import Lease
from personae.turn.room import Room
from personae.turn.seat import Seat


class Session:
    def __init__(self, room: Room, seats: Mapping[str, Seat], lease: Lease | None) -> None:
        self.room = room
        self.seats = seats
        """By member, in the order they joined."""
        self.lease = lease
        """None: another tab holds the conversation, this one only reads it."""
        self.gate = asyncio.Lock()
        """Held by whatever changes the conversation; what comes next waits for it."""
        self.starting: asyncio.Future[None] | None = None
        """Done when the agents have started; None for one that is only read."""
        self.reading: asyncio.Future[None] | None = None
        """Done when the older entries of a long conversation are there; None for a short one."""

    @property
    def journal(self) -> Journal:
        return self.room.journal

    @property
    def first_seat(self) -> Seat:
        """The seat of the member that every conversation has."""
        return self.seats[FIRST_MEMBER]

    @property
    def answering(self) -> bool:
        return self.room.stopping.answering is not None

    @property
    def left(self) -> bool:
        """Whether the user has gone to another conversation."""
        return self.room.stopping.left

    @property
    def read_only(self) -> bool:
        return self.lease is None

    def check_writable(self) -> None:
        """Raises UsageError ``read_only``."""
        if self.read_only:
            raise UsageError(
                "read_only",
                "This conversation is open in another tab. Close it there, or start a new one.",
            )

    async def catch_up(self) -> None:
        """Brings every seat's agents up to date."""
        for seat in self.seats.values():
            await seat.catch_up()

    def told_of_edits(self) -> list[str]:
        """Ids of the agents that hear of edits."""
        return [agent for seat in self.seats.values() for agent in seat.hooks.told_of_edits()]

    def leave(self) -> None:
        """The user goes elsewhere: what runs is stopped, its hooks still run."""
        self.journal.fall_silent()
        self.room.stopping.leave()

    def end(self) -> None:
        """Nothing of this conversation runs any more, hooks neither."""
        self.journal.fall_silent()
        self.room.stopping.end()

    async def close(self) -> None:
        """Saves and ends the workers; whoever opened it gives the lock back."""
        for seat in self.seats.values():
            await seat.agents.close()
        if not self.read_only:
            await self.journal.save()
