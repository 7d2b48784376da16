"""The broker loop of a turn: how the story asks the model, and what it records.

Reference: The broker loop; ``tools.loop`` has the loop itself. Invariants: what was streamed is
kept whatever ends it; each result is stored together with its agent's store.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from personae.conversation.entries import Entry, ResultState, ToolCall
from personae.llm.stream.reply import (
    Event,
    ReasoningDelta,
    Reply,
    TextDelta,
    TextWasReasoning,
    ToolCallDelta,
    Waiting,
    Without,
)
from personae.tools.executor import Planned
from personae.tools.invocation import Invocation, NoteGranted
from personae.tools.loop import Limits, ToolLoop
from personae.tools.tool import Outcome
from personae.turn.done import Done
from personae.turn.seat import Seat
from personae.turn.stop import Stopper
from personae.turn.streaming import PartialReply

MAX_ROUNDS = 10
ROUNDS_SPENT = f"[The limit of {MAX_ROUNDS} rounds of tool calls was reached.]"


async def run_broker(seat: Seat, done: Done, stopper: Stopper) -> None:
    """Runs the loop to its end. Raises Stopped or ModelError; what there is, is stored."""
    story = Story(seat, done, stopper)
    limits = Limits(MAX_ROUNDS)
    loop = ToolLoop(seat.tools, seat.executor, story.ask, story, limits, stopper.run)
    ending = await loop.run()
    if ending.how in ("said", "rounds"):
        await story.conclude(ending.reply, ROUNDS_SPENT if ending.how == "rounds" else "")


class Story:
    """``loop.Record`` of a turn: its rounds become entries of the conversation."""

    def __init__(self, seat: Seat, done: Done, stopper: Stopper) -> None:
        self._seat = seat
        self._room = seat.room
        self._done = done
        self._stopper = stopper
        self._entry: Entry
        """Of the round whose calls run."""

    async def ask(self, final: bool) -> Reply:
        """The model's reply, shown while it arrives. Raises Stopped, ModelError."""
        room = self._room
        self._partial = PartialReply(
            room.journal,
            room.clock,
            room.events,
            {
                "model": room.models.main,
                "member": self._seat.member,
                "reply_to": self._done.cause.id,
            },
        )
        room.display.show("waiting")
        try:
            return await self._stopper.run(self._listen(final))
        except BaseException:
            entry = await self._partial.interrupt()
            if entry is not None:
                self._done.add(entry)
            raise

    async def conclude(self, reply: Reply, note: str) -> None:
        """Stores the answer that ends the response; one that says nothing is no entry."""
        content = "\n\n".join(part for part in (reply.text, note) if part)
        if content or reply.reasoning or reply.pictures:
            self._done.cut = reply.cut
            await self._store(reply, content, (), cut=reply.cut, stopped=reply.cut is not None)
        else:
            await self._partial.abandon()
        if reply.cut_calls:
            names = ", ".join(call.name for call in reply.cut_calls)
            text = f"Cut off before it was complete, so not run: {names}."
            self._room.journal.append("log", text, member=self._seat.member)

    async def round(self, reply: Reply, calls: Sequence[Planned]) -> None:
        self._entry = await self._store(reply, reply.text, [planned.call for planned in calls])

    def invocation(self, planned: Planned) -> Invocation:
        return Invocation("model", note_granted=self._noter(self._entry.id, planned.call.id))

    def starts(self, planned: Planned) -> None:
        self._room.display.show("tools", planned.call.name)

    async def outcome(self, planned: Planned, outcome: Outcome) -> None:
        suspended = outcome.control == "suspend"
        self._append(planned, outcome.content, outcome.ok, "suspended" if suspended else "answered")
        self._room.journal.save_meanwhile()
        if planned.tool is None or not planned.tool.annotations.counted:
            return
        who = {"agentId": planned.tool.owner, "toolName": planned.call.name}
        self._room.events.emit("toolCall", {**who, "result": outcome.content})
        answered = {
            "args": planned.arguments,
            "result": outcome.content,
            "toolCallId": planned.call.number,
        }
        self._done.calls.append({"name": planned.call.name, **answered})
        if outcome.ok:
            await self._stopper.run(self._seat.hooks.after_tool_call({**who, **answered}))

    async def cut(self, calls: Sequence[Planned], reason: str) -> None:
        for planned in calls:
            self._append(planned, reason, False, "cut")
        await self._room.journal.save()

    async def _listen(self, final: bool) -> Reply:
        seat, models = self._seat, self._room.models
        stream = models.stream(seat.messages(), seat.tools.definitions(), final=final)
        async with aclosing(stream):
            async for event in stream:
                if isinstance(event, Reply):
                    return event
                self._pass_on(event)
        raise AssertionError("a stream ends with a Reply or an error")

    def _pass_on(self, event: Event) -> None:
        """Shows a piece of the answer."""
        display, partial = self._room.display, self._partial
        match event:
            case TextDelta(text):
                display.show("streaming")
                partial.text(text)
            case ReasoningDelta(text):
                display.show("thinking")
                partial.reasoning(text)
            case TextWasReasoning():
                partial.text_was_reasoning()
            case ToolCallDelta(name=name):
                display.show("streaming", name)
            case Waiting(seconds=seconds, message=message):
                display.show("retrying", message, seconds)
            case Without(message):
                self._room.journal.append("log", message)

    async def _store(
        self, reply: Reply, content: str, calls: Sequence[ToolCall], **more: Any
    ) -> Entry:
        fields = dict(reply.reasoning_fields) or None
        wanted_back = fields or any(call.fields for call in calls)
        entry = await self._partial.finish(
            content,
            tool_calls=tuple(calls),
            reasoning=reply.reasoning,
            reasoning_fields=fields,
            source=reply.source if wanted_back else None,
            pictures=reply.pictures,
            usage=dict(reply.usage) or None,
            **more,
        )
        self._done.add(entry)
        return entry

    def _append(self, planned: Planned, content: str, ok: bool, state: ResultState) -> None:
        tool = planned.tool
        self._room.journal.append(
            "tool",
            content,
            tool_call_id=planned.call.id,
            number=planned.call.number,
            agent_id=tool.owner if tool and tool.annotations.counted else None,
            ok=ok,
            state=state,
            member=self._seat.member,
            reply_to=self._done.cause.id,
        )

    def _noter(self, entry_id: str, call_id: str) -> NoteGranted:
        journal = self._room.journal

        def note(inner: ToolCall) -> None:
            entry = journal.entry(entry_id)
            calls = tuple(
                replace(call, granted=(*call.granted, inner)) if call.id == call_id else call
                for call in entry.tool_calls
            )
            journal.update(entry.with_(tool_calls=calls))

        return note
