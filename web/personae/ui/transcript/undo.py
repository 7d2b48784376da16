"""Taking back what destroys: a snapshot before, a toast with a button after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from personae.errors import UsageError
from personae.player.character_player import CharacterPlayer
from personae.ui.notices.toasts import Toasts

SECONDS = 10

Restored = Callable[[], Awaitable[None]]
"""Awaited when something was brought back."""
T = TypeVar("T")


async def undoable(
    player: CharacterPlayer,
    toasts: Toasts,
    said: str,
    work: Callable[[CharacterPlayer], Awaitable[T]],
    restored: Restored,
) -> T:
    """Does ``work``, which changes the open conversation, and offers to take it back.

    Undo puts a copy of the conversation as it was, agents' stores included, in its place.
    """
    before = await player.snapshot()
    changed = player.conversation_id

    async def restore() -> None:
        player.stop()
        copy = await player.restore(before)
        await player.load_conversation(copy)
        await _delete_when_free(player, changed)
        await restored()

    # Shown at once: a new response may take long, and may be what is not wanted.
    toasts.show(said, action="Undo", work=restore, seconds=SECONDS)
    return await work(player)


async def _delete_when_free(player: CharacterPlayer, conversation_id: str) -> None:
    """Deletes the conversation that was just left, once its last call has ended."""
    for _ in range(20):
        try:
            await player.delete_conversation(conversation_id)
        except UsageError as error:
            if error.code != "read_only":
                raise
            await asyncio.sleep(0.25)
        else:
            return


async def delete_conversation(
    player: CharacterPlayer, toasts: Toasts, conversation_id: str, restored: Restored
) -> None:
    """Deletes a conversation and offers to bring it back."""
    before = await player.snapshot(conversation_id)
    was_open = player.conversation_id == conversation_id
    await player.delete_conversation(conversation_id)

    async def restore() -> None:
        copy = await player.restore(before)
        if was_open:
            await player.load_conversation(copy)
        await restored()

    toasts.show("The conversation was deleted.", action="Undo", work=restore, seconds=SECONDS)
