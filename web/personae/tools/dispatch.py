"""One tool call on its way to an agent (reference: The broker loop; toolCallId).

A call is planned first: an unknown tool or arguments that do not fit answer the model and use no
toolCallId. What is planned for an agent gets its number before anything runs, so that the number
is stored beside the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from personae.conversation.entries import ToolCall
from personae.errors import AgentError, PersonaeError
from personae.llm.arguments import parse_arguments
from personae.package.json_schema import Violation, certainly_valid, violations
from personae.package.model import AgentProgram, Tool
from personae.package.steps import Install
from personae.turn.agents import Agents, Invocation

Tools = Mapping[str, tuple[AgentProgram, Tool]]

LIBRARY = "jsonschema"
MOST_VIOLATIONS = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """A call and what becomes of it: an agent answers it, or ``refusal`` does."""

    call: ToolCall
    """With its toolCallId when it goes to an agent."""
    program: AgentProgram | None = None
    arguments: Mapping[str, Any] | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    content: str
    """What the model gets."""
    ok: bool


async def plan(
    call: ToolCall, tools: Tools, take_number: Callable[[], int], install: Install | None
) -> Planned:
    """Finds the agent, reads and checks the arguments, and takes a number.

    ``install``: fetches the schema library when it is needed and not there.
    """
    if call.name not in tools:
        known = ", ".join(tools) or "none"
        return Planned(call, refusal=f"Error: there is no tool {call.name!r}. Tools: {known}.")
    program, tool = tools[call.name]
    try:
        arguments = parse_arguments(call.arguments)
    except PersonaeError as error:
        return Planned(call, refusal=f"Error: {error.message}")
    found = await _violations(arguments, tool.parameters, install)
    if found:
        reasons = "; ".join(f"{v.where or 'arguments'}: {v.message}" for v in found)
        text = f"Error: the arguments of {call.name} do not fit its parameters: {reasons}."
        return Planned(call, refusal=text)
    return Planned(replace(call, number=take_number()), program, arguments)


async def _violations(
    arguments: Mapping[str, Any], schema: Mapping[str, Any], install: Install | None
) -> list[Violation]:
    if certainly_valid(arguments, schema, schema):
        return []
    if install is not None and find_spec(LIBRARY) is None:
        # What keeps it from being fetched shows in the violations.
        with suppress(Exception):
            await install(LIBRARY)
    try:
        return violations(arguments, schema)[:MOST_VIOLATIONS]
    except ModuleNotFoundError as error:
        return [Violation((), f"cannot be checked now ({error})")]


async def run(planned: Planned, agents: Agents, invocation: Invocation) -> Result:
    """The model's answer to the call; an agent's failure is one, too."""
    if planned.program is None:
        return Result(planned.refusal, ok=False)
    arguments = [planned.call.name, planned.arguments]
    try:
        value = await agents.call(planned.program, "onToolCall", arguments, invocation)
    except AgentError as error:
        return Result(f"Error: {error.detail.get('thrown') or error.message}", ok=False)
    return Result(value or "", ok=True)
