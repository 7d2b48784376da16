"""What agents may spend of the user's tokens (reference: Agent token caps).

Both caps come from the user's settings. What was spent in a conversation is part of its record.
Invariants: before a call is made, what it may cost at most is reserved from both caps, in one step
with the check, so that calls at the same time see each other; every reservation is settled once,
whatever becomes of its call. Reservations are nowhere but here: a tab that is killed releases them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from personae.errors import BudgetError
from personae.settings import Limits
from personae.storage.journal import Journal


@dataclass(slots=True)
class Account:
    """What an agent's calls have come to since the conversation was opened."""

    spent: int = 0
    """Tokens."""
    reserved: int = 0
    """Tokens of calls that are under way."""
    refused: int = 0
    """Calls that were not made."""


class Reservation:
    """Tokens held for one call; what the call cost takes their place."""

    def __init__(self, tokens: int, holders: tuple[Account, ...], spend: Callable[[int], None]):
        self.tokens = tokens
        self._holders = holders
        self._spend = spend
        for holder in holders:
            holder.reserved += tokens

    def settle(self, spent: int) -> None:
        """Ends it; called once. ``spent`` may be more than was held."""
        for holder in self._holders:
            holder.reserved -= self.tokens
            holder.spent += spent
        self._spend(spent)


class Meter:
    """``changed`` hears whenever something that ``accounts`` shows has changed."""

    def __init__(
        self, journal: Journal, limits: Callable[[], Limits], changed: Callable[[], None]
    ) -> None:
        self._journal = journal
        self._limits = limits
        self._changed = changed
        self._response = Account()
        self._conversation = Account()
        """What it has spent is counted by the journal."""
        self._agents: defaultdict[str, Account] = defaultdict(Account)

    @property
    def response_spent(self) -> int:
        return self._response.spent

    def account(self, owner: str) -> Account:
        return self._agents[owner]

    def begin_response(self) -> None:
        """Calls that are under way stay with the response that they were made in."""
        self._response = Account()

    def refusal(self, tokens: int) -> str | None:
        """Why a call that may cost ``tokens`` cannot be made, or None."""
        limits, spent = self._limits(), self._journal.head.tokens_spent
        return _lack("response", limits.response, self._response, tokens) or _lack(
            "conversation",
            limits.conversation,
            Account(spent, self._conversation.reserved),
            tokens,
        )

    def reserve(self, owner: str, tokens: int) -> Reservation:
        """Holds ``tokens`` for an agent's call. Raises BudgetError ``budget_exhausted``."""
        reason = self.refusal(tokens)
        if reason is not None:
            self.refused(owner)
            raise BudgetError("budget_exhausted", f"{reason}; the user can raise it in settings.")
        holders = (self._response, self._conversation, self.account(owner))
        reservation = Reservation(tokens, holders, self._journal.spend)
        self._changed()
        return reservation

    def refused(self, owner: str) -> None:
        """Notes a call that was not made."""
        self.account(owner).refused += 1
        self._changed()


def _lack(name: str, limit: int, account: Account, tokens: int) -> str | None:
    left = limit - account.spent - account.reserved
    if left > 0 and tokens <= left:
        return None
    span = "within" if name == "response" else "in"
    why = (
        f"token budget exhausted for this {name}: agents may spend {limit} tokens {span} one {name}"
    )
    if left <= 0 and not account.reserved:
        return why
    held = f", {account.reserved} of them held for calls under way" if account.reserved else ""
    return f"{why}{held}, and this call may cost {tokens} with {max(left, 0)} left"
