"""One tool call, from the model's words to its outcome (reference: The broker loop; toolCallId).

A call is planned first: an unknown tool or arguments that do not fit answer the model and use no
toolCallId. What is planned gets its number before anything runs, so that the number is stored
beside the call. Whatever fails, planning or a handler, is an outcome, also what nobody foresaw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from personae.conversation.entries import ToolCall
from personae.errors import PersonaeError, ToolError
from personae.llm.arguments import parse_arguments
from personae.package.steps import Install
from personae.tools.invocation import Invocation
from personae.tools.tool import Outcome, Tool, ToolTable, failed
from personae.tools.validation import check_arguments

CUT = "Error: the user stopped the response before this call had a result."
SKIPPED = "Error: this call was not run, since an earlier one of the same reply ended the turn."


@dataclass(frozen=True, slots=True)
class Planned:
    """A call and what becomes of it: a tool answers it, or ``refused`` does."""

    call: ToolCall
    """With its number where the tool's calls are counted."""
    tool: Tool | None = None
    arguments: Mapping[str, Any] | None = None
    refused: Outcome | None = None


class Executor:
    """``install`` fetches what checks schemas when it is needed and not there."""

    def __init__(
        self,
        take_number: Callable[[], int],
        install: Install | None,
        defect: Callable[[Exception], None],
    ) -> None:
        self._take_number = take_number
        self._install = install
        self._defect = defect

    async def plan(self, call: ToolCall, tools: ToolTable) -> Planned:
        """Finds the tool, reads and checks the arguments, and takes a number."""
        try:
            tool = _find(call.name, tools)
            arguments = parse_arguments(call.arguments)
            await check_arguments(call.name, arguments, tool.definition.parameters, self._install)
        except Exception as error:
            return Planned(call, refused=self._failed(call, error))
        if tool.annotations.counted:
            call = replace(call, number=self._take_number())
        return Planned(call, tool, arguments)

    async def execute(self, planned: Planned, invocation: Invocation) -> Outcome:
        """The model's answer to the call."""
        if planned.tool is None or planned.arguments is None:
            assert planned.refused is not None
            return planned.refused
        try:
            return await planned.tool.handler(planned.call, planned.arguments, invocation)
        except Exception as error:
            return self._failed(planned.call, error)

    def _failed(self, call: ToolCall, error: Exception) -> Outcome:
        if isinstance(error, PersonaeError):
            return failed(error)
        self._defect(error)
        return failed(ToolError("internal", f"the tool {call.name!r} failed."))


def _find(name: str, tools: ToolTable) -> Tool:
    tool = tools.find(name)
    if tool is None:
        known = ", ".join(tools.names()) or "none"
        raise ToolError("unknown_tool", f"there is no tool {name!r}. Tools: {known}.")
    return tool
