"""The broker loop: ask the model, run the tools it calls, ask again (reference: The broker loop).

Invariants: what was streamed is kept whatever ends it; a round's calls and their numbers are
stored before the first of them runs, each result together with its agent's store right after; no
call is left without a result; after ``MAX_ROUNDS`` rounds one last request forbids tools.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from personae.conversation.entries import Entry, ToolCall
from personae.llm.stream.reply import (
    Event,
    ReasoningDelta,
    Reply,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
    Waiting,
)
from personae.tools import dispatch
from personae.turn.agents import Invocation
from personae.turn.stop import Stopper
from personae.turn.streaming import PartialReply

if TYPE_CHECKING:
    from personae.player.session import Session
    from personae.turn.turn import Turn

MAX_ROUNDS = 10
ROUNDS_SPENT = f"[The limit of {MAX_ROUNDS} rounds of tool calls was reached.]"
NOT_RUN = "Error: the user stopped the response before this call had a result."


class Broker:
    def __init__(self, session: Session, turn: Turn, stopper: Stopper) -> None:
        self._session = session
        self._turn = turn
        self._stopper = stopper

    async def respond(self) -> None:
        """Runs the loop to its end. Raises Stopped or ModelError; what there is, is stored."""
        for _ in range(MAX_ROUNDS):
            reply = await self._ask()
            if not reply.tool_calls:
                await self._conclude(reply)
                return
            await self._run_tools(reply)
        await self._conclude(await self._ask(final=True), note=ROUNDS_SPENT)

    async def _ask(self, *, final: bool = False) -> Reply:
        session = self._session
        self._partial = PartialReply(
            session.journal, session.environment.clock, session.events, session.models.main
        )
        session.show("waiting")
        try:
            return await self._stopper.run(self._listen(final))
        except BaseException:
            entry = await self._partial.interrupt()
            if entry is not None:
                self._turn.add(entry)
            raise

    async def _listen(self, final: bool) -> Reply:
        session = self._session
        stream = session.models.stream(session.messages(), session.tools(), final=final)
        async with aclosing(stream):
            async for event in stream:
                if isinstance(event, Reply):
                    return event
                self._take(event)
        raise AssertionError("a stream ends with a Reply or an error")

    def _take(self, event: Event) -> None:
        """Passes a piece of the answer on."""
        session, partial = self._session, self._partial
        match event:
            case TextDelta(text):
                session.show("streaming")
                partial.text(text)
            case ReasoningDelta(text):
                session.show("thinking")
                partial.reasoning(text)
            case TextWasReasoning():
                partial.text_was_reasoning()
            case ToolCallDelta(name=name):
                session.show("streaming", name)
            case Waiting(seconds=seconds, message=message):
                session.show("retrying", message, seconds)

    async def _conclude(self, reply: Reply, note: str = "") -> None:
        """Stores the answer that ends the response; one that says nothing is no entry."""
        content = "\n\n".join(part for part in (reply.text, note) if part)
        if content or reply.reasoning:
            await self._store(reply, content, ())
        else:
            await self._partial.abandon()
        if reply.cut_calls:
            names = ", ".join(call.name for call in reply.cut_calls)
            self._session.audit(f"Cut off before it was complete, so not run: {names}.")

    async def _store(self, reply: Reply, content: str, calls: Sequence[ToolCall]) -> Entry:
        entry = await self._partial.finish(
            content,
            tool_calls=tuple(calls),
            reasoning=reply.reasoning,
            reasoning_fields=dict(reply.reasoning_fields) or None,
            usage=dict(reply.usage) or None,
        )
        self._turn.add(entry)
        return entry

    async def _run_tools(self, reply: Reply) -> None:
        session = self._session
        tools, take_number = session.registry.tools, session.journal.take_number
        plans = [
            await dispatch.plan(call, tools, take_number, session.environment.install)
            for call in reply.tool_calls
        ]
        entry = await self._store(reply, reply.text, [planned.call for planned in plans])
        open_plans = list(plans)
        try:
            for planned in plans:
                session.show("tools", planned.call.name)
                result = await self._stopper.run(self._run(entry, planned))
                del open_plans[0]
                await self._record(planned, result)
        except BaseException:
            for planned in open_plans:
                self._append(planned, dispatch.Result(NOT_RUN, ok=False))
            await session.journal.save()
            raise

    async def _run(self, entry: Entry, planned: dispatch.Planned) -> dispatch.Result:
        invocation = Invocation(
            "model",
            number=planned.call.number,
            note_granted=self._granted_noter(entry.id, planned.call.id),
        )
        return await dispatch.run(planned, self._session.agents, invocation)

    async def _record(self, planned: dispatch.Planned, result: dispatch.Result) -> None:
        session = self._session
        self._append(planned, result)
        session.journal.save_meanwhile()
        session.tool_called(planned, result.content)
        if planned.program is None:
            return
        answered = {
            "args": planned.arguments,
            "result": result.content,
            "toolCallId": planned.call.number,
        }
        self._turn.calls.append({"name": planned.call.name, **answered})
        if result.ok:
            who = {"agentId": planned.program.agent_id, "toolName": planned.call.name}
            await self._stopper.run(session.hooks.after_tool_call({**who, **answered}))

    def _append(self, planned: dispatch.Planned, result: dispatch.Result) -> None:
        self._session.journal.append(
            "tool",
            result.content,
            tool_call_id=planned.call.id,
            number=planned.call.number,
            agent_id=planned.program.agent_id if planned.program else None,
            ok=result.ok,
        )

    def _granted_noter(self, entry_id: str, call_id: str) -> Callable[[ToolCall], None]:
        journal = self._session.journal

        def note(inner: ToolCall) -> None:
            entry = journal.entry(entry_id)
            calls = tuple(
                replace(call, granted=(*call.granted, inner)) if call.id == call_id else call
                for call in entry.tool_calls
            )
            journal.update(entry.with_(tool_calls=calls))

        return note
