"""The tools that agents declare, as tools (reference: Exported functions, onToolCall)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from personae.conversation.entries import ToolCall
from personae.package.model import AgentProgram, ToolDefinition
from personae.tools.invocation import Invocation
from personae.tools.tool import Annotations, Outcome, Tool, ToolTable
from personae.written import Written, written

COUNTED = Annotations(counted=True)


class CallAgent(Protocol):
    """Calls a function of an agent; what it returns as text. Raises AgentError."""

    async def __call__(
        self,
        program: AgentProgram,
        function: str,
        arguments: Written,
        invocation: Invocation,
    ) -> str | None: ...


def agent_tool(program: AgentProgram, definition: ToolDefinition, call_agent: CallAgent) -> Tool:
    """A tool that ``onToolCall`` of the agent answers."""

    async def answer(
        call: ToolCall, arguments: Mapping[str, Any], invocation: Invocation
    ) -> Outcome:
        counted = replace(invocation, number=call.number)
        values = written([call.name, arguments])
        value = await call_agent(program, "onToolCall", values, counted)
        return Outcome(value or "")

    return Tool(definition, program.agent_id, answer, COUNTED)


def agent_tools(
    declared: Iterable[tuple[AgentProgram, ToolDefinition]], call_agent: CallAgent
) -> ToolTable:
    """The table of these tools; of one name the first counts."""
    return ToolTable(tuple(agent_tool(*pair, call_agent) for pair in declared))
