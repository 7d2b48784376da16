"""What a tool is, whoever owns it: the player itself or an agent.

A handler gets the call, its checked arguments and why it runs; what it raises as a PersonaeError
is the call's failure and answers the model like any other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from personae.conversation.entries import ToolCall
from personae.errors import PersonaeError
from personae.package.model import ToolDefinition
from personae.tools.invocation import Invocation

Control = Literal["go on", "end", "suspend"]
"""What follows a call: the next one; the end of the loop; the end until the user has answered."""


@dataclass(frozen=True, slots=True)
class Outcome:
    content: str
    """What the model gets; of a call that suspends, what stands there until the answer."""
    error: PersonaeError | None = None
    control: Control = "go on"

    @property
    def ok(self) -> bool:
        return self.error is None


def failed(error: PersonaeError) -> Outcome:
    """The outcome of a call that failed, as the model is told."""
    told = error.detail.get("told") or error.detail.get("thrown") or error.message
    return Outcome(f"Error: {told}", error)


Handler = Callable[[ToolCall, Mapping[str, Any], Invocation], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the loop must know of a tool; never sent."""

    counted: bool = False
    """Whether a call takes a call number (toolCallId) and agents hear of it (afterToolCall)."""


@dataclass(frozen=True, slots=True)
class Tool:
    definition: ToolDefinition
    owner: str
    """An agent's id, or the player's name for itself."""
    handler: Handler
    annotations: Annotations = Annotations()

    @property
    def name(self) -> str:
        return self.definition.name


class ToolTable:
    """The tools a run may call, by name; the first registration of a name wins."""

    def __init__(self, tools: tuple[Tool, ...] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: Tool) -> bool:
        """Whether the name was free."""
        return self._tools.setdefault(tool.name, tool) is tool

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def definitions(self) -> list[ToolDefinition]:
        """What a request lists (reference: The tool definitions array)."""
        return [tool.definition for tool in self._tools.values()]

    def names(self) -> list[str]:
        return list(self._tools)

    def __len__(self) -> int:
        return len(self._tools)
