"""studio.callModel, and the tool loop of a sub-agent with grants.

Reference: studio.callModel; Agent token caps; Sub-agents and granted tools. Invariants: both caps
are checked before a call is made; within the loop a spent cap ends it with a note instead of an
error; every granted call gets a toolCallId that is stored before it runs; a granted agent answers
with its own store and under its own @api lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from personae.errors import BridgeError
from personae.llm.models import Models
from personae.llm.stream.reply import Reply
from personae.package.model import AgentProgram, Tool
from personae.package.steps import Install
from personae.storage.journal import Journal
from personae.tools import dispatch
from personae.tools.grants import granted_tools
from personae.tools.registry import Registry
from personae.turn.agents import Agents, Invocation
from personae.turn.caps import Meter

DEFAULT_TOKENS = 1024
MOST_TOKENS = 8192
DEFAULT_ROUNDS = 5
MOST_ROUNDS = 10


class ModelCalls:
    def __init__(
        self,
        registry: Registry,
        agents: Agents,
        journal: Journal,
        meter: Meter,
        models: Models,
        install: Install | None,
        called: Callable[[dispatch.Planned, str], None],
    ) -> None:
        self._registry = registry
        self._agents = agents
        self._journal = journal
        self._meter = meter
        self._models = models
        self._install = install
        self._called = called

    async def call(
        self, program: AgentProgram, invocation: Invocation, arguments: Mapping[str, Any]
    ) -> str:
        """The reply text. Raises BudgetError, BridgeError or ModelError."""
        options = call_options(arguments)
        messages = call_messages(arguments)
        tools = granted_tools(program, self._registry)
        metered = bool(tools) or invocation.invoked_by != "direct"
        if metered:
            self._meter.check()
        if not tools:
            return (await self._once(messages, options, metered)).text
        return await self._loop(program, invocation, messages, options, tools)

    async def _loop(
        self,
        program: AgentProgram,
        invocation: Invocation,
        messages: list[dict[str, Any]],
        options: dict[str, Any],
        tools: dispatch.Tools,
    ) -> str:
        offered = [tool for _, tool in tools.values()]
        said = ""
        for _ in range(max_rounds(program)):
            reply = await self._once(messages, options, True, tools=offered)
            said = reply.text or said
            if not reply.tool_calls:
                return said
            messages.append(reply.message())
            messages += await self._answers(program, invocation, reply, tools)
            reason = self._meter.exhausted()
            if reason is not None:
                return _noted(said, f"ended early: {reason}")
        reply = await self._once(messages, options, True, tools=offered, final=True)
        return _noted(reply.text or said, "ended after its last round of tool calls")

    async def _answers(
        self, program: AgentProgram, invocation: Invocation, reply: Reply, tools: dispatch.Tools
    ) -> list[dict[str, Any]]:
        answers = []
        for call in reply.tool_calls:
            take_number = self._journal.take_number
            planned = await dispatch.plan(call, tools, take_number, self._install)
            if planned.program is not None and invocation.note_granted is not None:
                invocation.note_granted(planned.call)
            await self._journal.save()
            inner = Invocation(
                "model",
                number=planned.call.number,
                chain=(*invocation.chain, program.agent_id),
                note_granted=invocation.note_granted,
            )
            result = await dispatch.run(planned, self._agents, inner)
            await self._journal.save()
            self._called(planned, result.content)
            answers.append({"role": "tool", "tool_call_id": call.id, "content": result.content})
        return answers

    async def _once(
        self,
        messages: Sequence[dict[str, Any]],
        options: Mapping[str, Any],
        metered: bool,
        *,
        tools: Sequence[Tool] = (),
        final: bool = False,
    ) -> Reply:
        reply = await self._models.complete(messages, tools=tools, final=final, **options)
        if metered:
            self._meter.spend(tokens_used(reply))
            await self._journal.save()
        return reply


def call_options(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """``role``, ``max_tokens`` and, where given, ``temperature`` and ``top_p``."""
    given = arguments.get("opts") or {}
    role = given.get("model") or "worker"
    if role not in ("worker", "main"):
        raise BridgeError(
            "model_not_allowed",
            f"studio.callModel takes the model 'worker' or 'main', not {role!r}: the user picks "
            "the model ids.",
        )
    options = {"role": role, "max_tokens": reply_tokens(arguments.get("maxTokens"))}
    for name, option in (("temperature", "temperature"), ("topP", "top_p")):
        if isinstance(given.get(name), int | float) and not isinstance(given[name], bool):
            options[option] = given[name]
    return options


def call_messages(arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The system prompt and the usable messages; anything else is dropped."""
    system = arguments.get("systemPrompt") or ""
    messages = [{"role": "system", "content": system}] if system else []
    for message in arguments.get("messages") or ():
        if (
            isinstance(message, Mapping)
            and message.get("role") in ("user", "assistant", "system")
            and isinstance(message.get("content"), str)
        ):
            messages.append({"role": message["role"], "content": message["content"]})
    return messages


def reply_tokens(wanted: Any) -> int:
    """``maxTokens`` within 1 to 8192; 1024 unless it is a number."""
    if isinstance(wanted, bool) or not isinstance(wanted, int | float) or wanted != wanted:
        return DEFAULT_TOKENS
    return int(max(1, min(MOST_TOKENS, wanted)))


def max_rounds(program: AgentProgram) -> int:
    meta = program.sub_agent.meta if program.sub_agent is not None else {}
    wanted = meta.get("maxRounds", DEFAULT_ROUNDS)
    return max(1, min(MOST_ROUNDS, wanted if isinstance(wanted, int) else DEFAULT_ROUNDS))


def tokens_used(reply: Reply) -> int:
    """What a call cost: the provider's count, or the client's estimate."""
    usage = reply.usage
    total = usage.get("total_tokens")
    if isinstance(total, int):
        return total
    return int(usage.get("prompt_tokens") or 0) + int(usage.get("completion_tokens") or 0)


def _noted(text: str, reason: str) -> str:
    return f"{text}\n\n[The sub-agent {reason}.]".strip()
