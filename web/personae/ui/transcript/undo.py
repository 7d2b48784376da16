"""Undo in the page: a toast with a button after what destroys; what it undoes is the player's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from personae.errors import UsageError
from personae.player.character_player import CharacterPlayer
from personae.player.undoing import Deed
from personae.storage.drafts import Drafts
from personae.storage.snapshot import Snapshot
from personae.ui.notices.toasts import Toasts

SECONDS, LONGER = 10, 20
BUSY = "Wait until the reply is finished, or stop it first."
TOPIC = "undo"
"""Of the toasts that mean something only while the character is on stage."""

Restored = Callable[[], Awaitable[None]]
"""Awaited when something was brought back."""
T = TypeVar("T")


async def undoable(
    player: CharacterPlayer,
    toasts: Toasts,
    said: str,
    work: Callable[[CharacterPlayer, Deed], Awaitable[T]],
    restored: Restored,
) -> T:
    """Does ``work``, which edits the open conversation, and offers to take it back."""
    taking_back = _TakingBack(player, toasts, restored)
    # Shown at once: a new response may take long, and may be what is not wanted.
    close = toasts.show(said, action="Undo", work=taking_back.undo, seconds=SECONDS, topic=TOPIC)
    try:
        return await work(player, taking_back.deed)
    finally:
        if taking_back.deed.before is None:  # nothing was edited, or it is as it was
            close()


class _TakingBack:
    """One edit that may have to be undone."""

    def __init__(self, player: CharacterPlayer, toasts: Toasts, restored: Restored) -> None:
        self.deed = Deed()
        self._player, self._toasts, self._restored = player, toasts, restored
        self._conversation = player.conversation_id

    async def undo(self) -> None:
        player = self._player
        if not self.deed.ended:
            player.stop()  # its own response, which is not wanted
        elif player.answering:
            self._offer(BUSY, "Undo", self.undo)
            return
        before = self.deed.before
        try:
            await player.load_conversation(self._conversation)
            await player.undo(self.deed)
        except UsageError as error:
            if error.code not in ("cannot_undo", "unknown_conversation") or before is None:
                raise
            self._offer(error.message, "Open as it was", lambda: self._fork(before))
        await self._restored()

    async def _fork(self, before: Snapshot) -> None:
        """The old state as a conversation of its own."""
        player = self._player
        title = f"{before.head.title} (as it was)".strip()
        await player.load_conversation(await player.restore(before, title))
        await self._restored()

    def _offer(self, said: str, action: str, work: Callable[[], Awaitable[None]]) -> None:
        self._toasts.show(said, action=action, work=work, seconds=LONGER, topic=TOPIC)


async def delete_conversation(
    player: CharacterPlayer,
    toasts: Toasts,
    drafts: Drafts,
    conversation_id: str,
    restored: Restored,
) -> None:
    """Deletes a conversation and offers to bring it back, with what was typed in it."""
    before = await player.snapshot(conversation_id)
    others = {item["id"] for item in await player.list_conversations()}
    was_open = player.conversation_id == conversation_id
    await player.delete_conversation(conversation_id)
    shown = player.conversation_id

    async def restore() -> None:
        await player.bring_back(before)
        drafts.renew(conversation_id)
        # Who has gone on elsewhere meanwhile stays there.
        if was_open and player.conversation_id == shown:
            unused = shown not in others and not player.entries
            await player.load_conversation(conversation_id)
            if unused:
                await player.delete_conversation(shown)
        await restored()

    toasts.show(
        "The conversation was deleted.",
        action="Undo",
        work=restore,
        seconds=SECONDS,
        topic=TOPIC,
    )
