"""The loop of rounds: ask the model, run the tools it calls, ask again.

The story, a sub-agent's inner loop and whatever else runs a model with tools use this one; they
differ in how they ask and in what they record. Invariants: a round's calls and their numbers are
recorded before the first of them runs, each outcome right after; no call is left without an
outcome, whatever ends the loop; after the last round one more request forbids tools; after a call
that ends or suspends the loop nothing more of its reply is run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from personae.llm.stream.reply import Reply
from personae.tools.executor import CUT, SKIPPED, Executor, Planned
from personae.tools.invocation import Invocation
from personae.tools.tool import Control, Outcome, ToolTable


class Record(Protocol):
    """Where a loop's rounds go."""

    async def round(self, reply: Reply, calls: Sequence[Planned]) -> None:
        """A reply that calls tools; returns when calls and numbers are stored."""
        ...

    def invocation(self, planned: Planned) -> Invocation:
        """Why a call runs."""
        ...

    def starts(self, planned: Planned) -> None:
        """A call is about to run."""
        ...

    async def outcome(self, planned: Planned, outcome: Outcome) -> None:
        """A call has its result, or what stands in for one while it is suspended."""
        ...

    async def cut(self, calls: Sequence[Planned], reason: str) -> None:
        """Calls that will not run; ``reason`` is what the model gets to read."""
        ...


@dataclass(frozen=True, slots=True)
class Ending:
    """How a loop ended: the model said its last word, its rounds or its budget were used up, or
    a tool ended or suspended it."""

    how: Literal["said", "rounds", "budget", "end", "suspend"]
    reply: Reply
    """The last one."""
    reason: str = ""
    """Why the budget ended it."""


@dataclass(frozen=True, slots=True)
class Limits:
    rounds: int
    exhausted: Callable[[], str | None] = lambda: None
    """Asked after every round: why there can be no other, or None."""


Ask = Callable[[bool], Awaitable[Reply]]
"""Asks the model with what was recorded so far; True: it may not call tools any more."""
Guard = Callable[[Coroutine[Any, Any, Outcome]], Awaitable[Outcome]]
"""Runs a call so that it can be stopped."""


class ToolLoop:
    def __init__(
        self,
        tools: ToolTable,
        executor: Executor,
        ask: Ask,
        record: Record,
        limits: Limits,
        guard: Guard | None = None,
    ) -> None:
        self._tools = tools
        self._executor = executor
        self._ask = ask
        self._record = record
        self._limits = limits
        self._guard = guard

    async def run(self) -> Ending:
        """Raises what asking or stopping raises; what there is, is recorded then."""
        for _ in range(self._limits.rounds):
            reply = await self._ask(False)
            if not reply.tool_calls:
                return Ending("said", reply)
            control = await self._run_calls(reply)
            if control != "go on":
                return Ending(control, reply)
            reason = self._limits.exhausted()
            if reason is not None:
                return Ending("budget", reply, reason)
        return Ending("rounds", await self._ask(True))

    async def _run_calls(self, reply: Reply) -> Control:
        plans = [await self._executor.plan(call, self._tools) for call in reply.tool_calls]
        await self._record.round(reply, plans)
        left = list(plans)
        try:
            for planned in plans:
                outcome = await self._run(planned)
                del left[0]
                await self._record.outcome(planned, outcome)
                if outcome.control != "go on":
                    skipped, left = left, []
                    await self._record.cut(skipped, SKIPPED)
                    return outcome.control
        except BaseException:
            await self._record.cut(left, CUT)
            raise
        return "go on"

    async def _run(self, planned: Planned) -> Outcome:
        self._record.starts(planned)
        work = self._executor.execute(planned, self._record.invocation(planned))
        return await (work if self._guard is None else self._guard(work))
