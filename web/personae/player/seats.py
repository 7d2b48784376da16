"""Who plays, and the seats they take when a conversation opens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from personae.package.model import Package
from personae.player.session import Session
from personae.storage.journal import Journal
from personae.storage.leases import Lease
from personae.tools.registry import Registry
from personae.turn.room import Room, Surroundings
from personae.turn.seat import Seat


@dataclass(frozen=True, slots=True)
class Character:
    package: Package
    registry: Registry


class Cast:
    def __init__(self, surroundings: Surroundings, characters: Mapping[str, Character]) -> None:
        self._surroundings = surroundings
        self._characters = characters
        """By member."""

    def sit_down(self, journal: Journal, lease: Lease | None) -> Session:
        """A session with a seat for everybody; nothing of it runs yet."""
        room = Room(self._surroundings, journal)
        seats = {
            member: Seat(room, character.package, character.registry, member)
            for member, character in self._characters.items()
        }
        return Session(room, seats, lease)
