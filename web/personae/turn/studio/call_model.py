"""studio.callModel, and the tool loop of a sub-agent with grants.

Reference: studio.callModel; Agent token caps; Sub-agents and granted tools. Invariants: nothing of
a character reaches a model before the user has spoken or pressed something in the conversation;
what a metered call may cost is reserved from both caps before it is made, and settled when it ends;
within the loop a spent cap ends it with a note instead of an error; every granted call gets a
toolCallId that is stored before it runs; a granted agent answers with its own store and under its
own @api lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from personae.errors import BridgeError, ModelError
from personae.llm.models import Role
from personae.llm.request.body import Sampling, call_ids, tool_message
from personae.llm.request.token_estimate import estimate_body
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
_NEVER_ARRIVED = ("model_unreachable", "model_offline", "model_bad_settings")


class ModelCalls:
    """For one seat; ``owner``: as whom the caps know an agent, see ``Belongings.owner``."""

    def __init__(
        self,
        registry: Registry,
        call_agent: CallAgent,
        executor: Executor,
        room: Room,
        owner: Callable[[str], str],
    ) -> None:
        self._registry = registry
        self._call_agent = call_agent
        self._executor = executor
        self._room = room
        self._owner = owner
        self._refused_early = False

    def take_refused_early(self) -> bool:
        """Whether a call was refused because the user had not acted yet; then no more."""
        refused, self._refused_early = self._refused_early, False
        return refused

    async def call(
        self, program: AgentProgram, invocation: Invocation, arguments: Mapping[str, Any]
    ) -> str:
        """The reply text. Raises BudgetError, BridgeError or ModelError."""
        self._check_permission(program)
        options = call_options(arguments)
        messages = call_messages(arguments)
        grants = granted(program, self._registry)
        tools = agent_tools(
            ((g, tool) for g in grants for tool in g.manifest.tools), self._call_agent
        )
        if not len(tools):
            metered = invocation.invoked_by != "direct"
            return (await self._once(program, messages, options, metered)).text
        return await self._loop(program, invocation, messages, options, tools)

    def _check_permission(self, program: AgentProgram) -> None:
        if self._room.user_acted:
            return
        self._refused_early = True
        self._room.meter.refused(self._owner(program.agent_id))
        raise BridgeError(
            "model_before_user",
            "studio.callModel is refused until the user has sent a message or pressed something in "
            "this conversation since it was opened. Call it from a later hook or tool call.",
        )

    async def _loop(
        self,
        program: AgentProgram,
        invocation: Invocation,
        messages: list[dict[str, Any]],
        options: Options,
        tools: ToolTable,
    ) -> str:
        record = InnerRounds(program, invocation, messages, self._room)
        offered = tools.definitions()

        async def ask(final: bool) -> Reply:
            return await self._once(program, messages, options, True, offered, final)

        limits = Limits(
            max_rounds(program), lambda: self._lack(program, messages, options, offered)
        )
        ending = await ToolLoop(tools, self._executor, ask, record, limits).run()
        said = ending.reply.text or record.said
        match ending.how:
            case "budget":
                return _noted(said, f"ended early: {ending.reason}")
            case "rounds":
                return _noted(said, "ended after its last round of tool calls")
            case _:
                return said

    def _lack(
        self,
        program: AgentProgram,
        messages: Sequence[dict[str, Any]],
        options: Options,
        tools: Sequence[ToolDefinition],
    ) -> str | None:
        """Why the loop's next request cannot be made, or None."""
        body = self._room.models.whole_body(messages, options.sampling, tools)
        reason = self._room.meter.refusal(most_tokens(body))
        if reason is not None:
            self._room.meter.refused(self._owner(program.agent_id))
        return reason

    async def _once(
        self,
        program: AgentProgram,
        messages: Sequence[dict[str, Any]],
        options: Options,
        metered: bool,
        tools: Sequence[ToolDefinition] = (),
        final: bool = False,
    ) -> Reply:
        models = self._room.models
        body = models.whole_body(messages, options.sampling, tools, final=final)
        taken = call_ids(messages)
        if not metered:
            return await models.complete(options.role, body, taken)
        reservation = self._room.meter.reserve(self._owner(program.agent_id), most_tokens(body))
        try:
            reply = await models.complete(options.role, body, taken)
        except BaseException as error:
            reservation.settle(cost_of_failure(error, reservation.tokens))
            self._room.journal.save_meanwhile()
            raise
        reservation.settle(tokens_used(reply, body))
        await self._room.journal.save()
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


@dataclass(frozen=True, slots=True)
class Options:
    role: Role
    sampling: Sampling


def call_options(arguments: Mapping[str, Any]) -> Options:
    given = arguments.get("opts") or {}
    role: Any = given.get("model") or "worker"
    if role not in ("worker", "main"):
        raise BridgeError(
            "model_not_allowed",
            f"studio.callModel takes the model 'worker' or 'main', not {role!r}: the user picks "
            "the model ids.",
        )
    sampling = Sampling(
        temperature=_number(given.get("temperature")),
        top_p=_number(given.get("topP")),
        max_tokens=reply_tokens(arguments.get("maxTokens")),
    )
    return Options(role, sampling)


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number else None


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


def most_tokens(body: Mapping[str, Any]) -> int:
    """What a call may cost at most: an estimate of all that is sent, and the longest reply."""
    return estimate_body(body) + int(body["max_tokens"])


def tokens_used(reply: Reply, body: Mapping[str, Any]) -> int:
    """What a call cost: the provider's count, or the client's estimate.

    The estimate counts what was sent as the reservation did.
    """
    usage = reply.usage
    if usage.get("estimated"):
        return estimate_body(body) + int(usage["completion_tokens"])
    return int(usage["total_tokens"])


def cost_of_failure(error: BaseException, reserved: int) -> int:
    """What a call without an answer cost: nothing when the provider was not reached or refused it;
    for any other, also one that was cut off here, the provider may charge all of it."""
    if not isinstance(error, ModelError):
        return reserved
    status = error.detail.get("status")
    refused = isinstance(status, int) and status >= 400
    return 0 if refused or error.code in _NEVER_ARRIVED else reserved


def _noted(text: str, reason: str) -> str:
    return f"{text}\n\n[The sub-agent {reason}.]".strip()
