"""What has been done in one turn so far, as its reply and afterResponse report it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from personae.conversation.entries import Cut, Entry
from personae.errors import PersonaeError


@dataclass(slots=True)
class Done:
    cause: Entry
    """The entry that is answered."""
    tools_offered: bool
    texts: list[str] = field(default_factory=list)
    """What each round said."""
    pictures: tuple[str, ...] = ()
    calls: list[dict[str, Any]] = field(default_factory=list)
    """The calls that reached an agent: ``{name, args, result, toolCallId}``."""
    produced: bool = False
    stopped: bool = False
    cut: Cut | None = None
    """What the model ended the response with, before it was whole."""
    error: PersonaeError | None = None

    def add(self, entry: Entry) -> None:
        self.produced = True
        self.pictures += entry.pictures
        if entry.content:
            self.texts.append(entry.content)

    @property
    def text(self) -> str:
        """The final response: what the last round that said something said."""
        return self.texts[-1] if self.texts else ""

    def event(self) -> dict[str, Any]:
        """The payload of afterResponse (reference: Hook events)."""
        return {
            "userText": self.cause.content,
            "responseText": self.text,
            "toolCalls": self.calls,
            "stopped": self.stopped,
            "toolsOffered": self.tools_offered,
        }

    def reply(self) -> dict[str, Any]:
        """``{role, content, pictures?, stopped?, cut?}``."""
        reply: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.pictures:
            reply["pictures"] = list(self.pictures)
        if self.cut:
            reply["cut"] = self.cut
        return {**reply, "stopped": True} if self.stopped or self.cut else reply
