"""studio.callModel, and the tool loop of a sub-agent with grants.

Reference: studio.callModel; Agent token caps; Sub-agents and granted tools. Invariants: both caps
are checked before a call is made; within the loop a spent cap ends it with a note instead of an
error; every granted call gets a toolCallId that is stored before it runs; a granted agent answers
with its own store and under its own @api lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from personae.errors import BridgeError
from personae.llm.request.body import tool_message
from personae.llm.stream.reply import Reply
from personae.package.model import AgentProgram, ToolDefinition
from personae.tools.agent_tools import CallAgent, agent_tools
from personae.tools.executor import Executor, Planned
from personae.tools.grants import granted
from personae.tools.invocation import Invocation
from personae.tools.loop import Limits, ToolLoop
from personae.tools.registry import Registry
from personae.tools.tool import Outcome, ToolTable
from personae.turn.room import Room

DEFAULT_TOKENS = 1024
MOST_TOKENS = 8192
DEFAULT_ROUNDS = 5
MOST_ROUNDS = 10


class ModelCalls:
    def __init__(
        self, registry: Registry, call_agent: CallAgent, executor: Executor, room: Room
    ) -> None:
        self._registry = registry
        self._call_agent = call_agent
        self._executor = executor
        self._room = room

    async def call(
        self, program: AgentProgram, invocation: Invocation, arguments: Mapping[str, Any]
    ) -> str:
        """The reply text. Raises BudgetError, BridgeError or ModelError."""
        options = call_options(arguments)
        messages = call_messages(arguments)
        grants = granted(program, self._registry)
        tools = agent_tools(
            ((g, tool) for g in grants for tool in g.manifest.tools), self._call_agent
        )
        metered = len(tools) > 0 or invocation.invoked_by != "direct"
        if metered:
            self._room.meter.check()
        if not len(tools):
            return (await self._once(messages, options, metered)).text
        return await self._loop(program, invocation, messages, options, tools)

    async def _loop(
        self,
        program: AgentProgram,
        invocation: Invocation,
        messages: list[dict[str, Any]],
        options: dict[str, Any],
        tools: ToolTable,
    ) -> str:
        record = InnerRounds(program, invocation, messages, self._room)
        offered = tools.definitions()

        async def ask(final: bool) -> Reply:
            return await self._once(messages, options, True, tools=offered, final=final)

        limits = Limits(max_rounds(program), self._room.meter.exhausted)
        ending = await ToolLoop(tools, self._executor, ask, record, limits).run()
        said = ending.reply.text or record.said
        match ending.how:
            case "budget":
                return _noted(said, f"ended early: {ending.reason}")
            case "rounds":
                return _noted(said, "ended after its last round of tool calls")
            case _:
                return said

    async def _once(
        self,
        messages: Sequence[dict[str, Any]],
        options: Mapping[str, Any],
        metered: bool,
        *,
        tools: Sequence[ToolDefinition] = (),
        final: bool = False,
    ) -> Reply:
        room = self._room
        reply = await room.models.complete(messages, tools=tools, final=final, **options)
        if metered:
            room.meter.spend(tokens_used(reply))
            await room.journal.save()
        return reply


class InnerRounds:
    """``loop.Record`` of a sub-agent's loop: its rounds are messages of the next request, and its
    calls stand beside the call that is being answered."""

    def __init__(
        self,
        program: AgentProgram,
        invocation: Invocation,
        messages: list[dict[str, Any]],
        room: Room,
    ) -> None:
        self._chain = (*invocation.chain, program.agent_id)
        self._note = invocation.note_granted
        self._messages = messages
        self._room = room
        self.said = ""
        """What the last round that said something said."""

    async def round(self, reply: Reply, calls: Sequence[Planned]) -> None:
        self.said = reply.text or self.said
        self._messages.append(reply.message())
        for planned in calls:
            if planned.call.number is not None and self._note is not None:
                self._note(planned.call)
        await self._room.journal.save()

    def invocation(self, planned: Planned) -> Invocation:
        return Invocation("model", chain=self._chain, note_granted=self._note)

    def starts(self, planned: Planned) -> None:
        """The app shows the call that is being answered, not those it leads to."""

    async def outcome(self, planned: Planned, outcome: Outcome) -> None:
        await self._room.journal.save()
        if planned.tool is not None:
            who = {"agentId": planned.tool.owner, "toolName": planned.call.name}
            self._room.events.emit("toolCall", {**who, "result": outcome.content})
        self._messages.append(tool_message(planned.call.id, outcome.content))

    async def cut(self, calls: Sequence[Planned], reason: str) -> None:
        self._messages += [tool_message(planned.call.id, reason) for planned in calls]


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
