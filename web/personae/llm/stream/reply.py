"""What a model call yields: events while it runs, a ``Reply`` at its end. Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from personae.conversation.entries import Cut, ToolCall
from personae.llm.stream.finish_reasons import CUTS, normal_reason


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More of what the character says."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of what the model thinks; neither speech nor history."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWasReasoning:
    """All text of this reply up to here turned out to be reasoning: move it there.

    Comes when a closing ``</think>`` arrives that was never opened.
    """


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The model calls a tool; its arguments are still arriving."""

    position: int
    """Which call of the reply, from 0."""
    name: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing comes at the moment, and why.

    For ``model_stalled`` the request is still open and is given up after ``seconds``; otherwise
    it is sent again after ``seconds``.
    """

    seconds: float
    reason: str
    """The code of the ModelError that caused the wait."""
    attempt: int
    """How many requests were made so far."""
    message: str


@dataclass(frozen=True, slots=True)
class Without:
    """The provider refused a part of the request, and took it without; said once, when learnt."""

    message: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One assembled assistant message."""

    text: str
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    """Calls to run, ids unique. Their presence makes a tool round, whatever finish_reason says."""
    cut_calls: tuple[ToolCall, ...] = ()
    """Calls that a limit or a broken stream cut off: never run, never sent back."""
    finish_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    """prompt_tokens, completion_tokens, total_tokens; ``estimated`` when the provider sent none."""
    ended: bool = True
    """False when the stream stopped without any mark of its end: the text may be incomplete."""
    reasoning_fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the message that the provider wants back within a tool round: its reasoning in its
    own form, signatures, and whatever else it sent."""
    source: str = ""
    """Who sent them (``Endpoint.mark``); nobody else gets them back."""
    pictures: tuple[str, ...] = ()
    """URLs, most of them ``data:``."""

    @property
    def cut(self) -> Cut | None:
        """What ended the reply early; None when it came to its end."""
        if not self.ended:
            return "end"
        return CUTS.get(normal_reason(self.finish_reason))

    def message(self) -> dict[str, Any]:
        """The assistant message of the next request of the same turn (see ``request/body.py``)."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.tool_calls:
            message |= {"tool_calls": [call_dict(call) for call in self.tool_calls]}
            message |= self.reasoning_fields
        return message


Event = TextDelta | ReasoningDelta | TextWasReasoning | ToolCallDelta | Waiting | Without | Reply


def call_dict(call: ToolCall) -> dict[str, Any]:
    """A tool call as a request carries it."""
    fields = dict(call.fields or {})
    function = {
        **(fields.pop("function", None) or {}),
        "name": call.name,
        "arguments": call.arguments,
    }
    return {**fields, "id": call.id, "type": "function", "function": function}
