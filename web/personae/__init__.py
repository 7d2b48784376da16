"""Personae: a player for portable character packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from personae.player.character_player import CharacterPlayer

__all__ = ["CharacterPlayer"]


def __getattr__(name: str) -> object:
    """Loads the player when it is first asked for: the boot path imports this package early."""
    if name == "CharacterPlayer":
        from personae.player.character_player import CharacterPlayer

        return CharacterPlayer
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
