"""What the agents of one scope have in a conversation: their stores, and edits they must hear of.

All of it is the journal's; here agents go by their ids, whichever member they are of.
"""

from __future__ import annotations

from personae.conversation.entries import FIRST_MEMBER
from personae.sandbox.process import StoreText
from personae.storage.journal import Journal
from personae.storage.scopes import scope_and_agent, scoped


class Belongings:
    def __init__(self, journal: Journal, scope: str = FIRST_MEMBER) -> None:
        self._journal = journal
        self.scope = scope

    def store(self, agent_id: str) -> StoreText | None:
        """None: the agent has none in this conversation, or one that cannot be read."""
        return self._journal.stores.get(self.owner(agent_id))

    def is_broken(self, agent_id: str) -> bool:
        """Whether the agent's stored data cannot be read: it is not called, it is not replaced."""
        return self.owner(agent_id) in self._journal.broken_stores

    def put_store(self, agent_id: str, store: StoreText) -> None:
        self._journal.put_store(self.owner(agent_id), store)

    def untold(self) -> list[str]:
        """Ids of the agents that are still to hear of an edit."""
        pending = self._journal.head.edit
        names = map(scope_and_agent, pending.agents if pending else ())
        return [agent_id for scope, agent_id in names if scope == self.scope]

    def lost(self) -> tuple[list[int], int]:
        """The toolCallIds that they have lost by it, and the last viable one of all."""
        pending = self._journal.head.edit
        return (pending.lost_to(self.scope), pending.last_viable) if pending else ([], 0)

    def edit_told(self, agent_id: str) -> None:
        """An agent has heard of the edit."""
        self._journal.edit_told(self.owner(agent_id))

    def owner(self, agent_id: str) -> str:
        """As which the journal knows an agent."""
        return scoped(self.scope, agent_id)
