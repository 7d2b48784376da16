"""What agents may spend of the user's tokens (reference: Agent token caps).

Both caps come from the user's settings. The total of a conversation is part of its record.
"""

from __future__ import annotations

from collections.abc import Callable

from personae.errors import BudgetError
from personae.settings import Limits
from personae.storage.journal import Journal


class Meter:
    def __init__(self, journal: Journal, limits: Callable[[], Limits]) -> None:
        self._journal = journal
        self._limits = limits
        self.response_spent = 0

    def begin_response(self) -> None:
        self.response_spent = 0

    def exhausted(self) -> str | None:
        """Why no more may be spent, or None."""
        limits = self._limits()
        if self.response_spent >= limits.response:
            return (
                f"token budget exhausted for this response: agents may spend {limits.response} "
                "tokens within one response"
            )
        if self._journal.head.tokens_spent >= limits.conversation:
            return (
                "token budget exhausted for this conversation: agents may spend "
                f"{limits.conversation} tokens in one conversation"
            )
        return None

    def check(self) -> None:
        """Raises BudgetError ``budget_exhausted`` when a cap is spent."""
        reason = self.exhausted()
        if reason is not None:
            raise BudgetError("budget_exhausted", f"{reason}; the user can raise it in settings.")

    def spend(self, tokens: int) -> None:
        self.response_spent += tokens
        self._journal.spend(tokens)
