"""What the player shows of itself: copies, as plain JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from personae.conversation.entries import Entry
from personae.errors import UsageError
from personae.llm.request.body import tool_definition
from personae.llm.request.encoded import spread
from personae.llm.request.token_estimate import estimate_message, estimate_prompt
from personae.package.model import AgentProgram
from personae.storage.head import Head
from personae.turn.seat import Seat
from personae.unicode import plain_line

LONGEST_TITLE = 200
"""Characters."""


def conversation(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The user and assistant entries: ``{id, index, role, content}``, ``stopped`` and ``rejected``
    where they are true, ``cut`` and ``pictures`` where there are any. Rounds that only called
    tools say nothing and are left out."""
    return [
        _message(index, entry)
        for index, entry in enumerate(entries)
        if entry.role in ("user", "assistant")
        and (entry.content or entry.pictures or not entry.tool_calls)
    ]


def conversation_list(heads: Iterable[Head], current: Head) -> list[dict[str, Any]]:
    """``[{id, title, createdAt, updatedAt}]``; the open one is there even if it is not stored."""
    stored = [current if head.id == current.id else head for head in heads]
    if current not in stored:
        stored.insert(0, current)
    return [
        {
            "id": head.id,
            "title": plain_line(head.title, LONGEST_TITLE),
            "createdAt": head.created_at,
            "updatedAt": head.updated_at,
        }
        for head in stored
    ]


def agents(seat: Seat) -> list[dict[str, Any]]:
    """Each agent's manifest and state; see ``_agent``."""
    owned = {program.agent_id for program in seat.registry.programs.values()}
    return [
        _agent(seat, program, program.agent_id not in owned) for program in seat.registry.everyone()
    ]


def find_agent(seat: Seat, agent_id: str) -> AgentProgram:
    program = seat.registry.find(agent_id)
    if program is None:
        raise UsageError("unknown_agent", f"This character has no agent {agent_id!r}.")
    return program


def prompt_preview(seat: Seat) -> dict[str, Any]:
    """The next request's messages and tools, with token estimates (``tokens`` is the sum)."""
    messages = list(spread(seat.messages()))
    tools = [tool_definition(tool) for tool in seat.tools.definitions()]
    return {
        "messages": messages,
        "tools": tools,
        "messageTokens": [estimate_message(message) for message in messages],
        "tokens": estimate_prompt({"messages": messages, "tools": tools}),
    }


def _message(index: int, entry: Entry) -> dict[str, Any]:
    message: dict[str, Any] = {
        "id": entry.id,
        "index": index,
        "role": entry.role,
        "content": entry.content,
    }
    if entry.pictures:
        message["pictures"] = list(entry.pictures)
    if entry.cut:
        message["cut"] = entry.cut
    marks = {"stopped": entry.stopped, "rejected": entry.rejected}
    return message | {name: True for name, marked in marks.items() if marked}


def _agent(seat: Seat, program: AgentProgram, private: bool) -> dict[str, Any]:
    manifest, registry, meter = program.manifest, seat.registry, seat.room.meter
    account = meter.account(seat.belongings.owner(program.agent_id))
    store = seat.belongings.store(program.agent_id)
    return {
        "id": program.agent_id,
        "description": manifest.description or "",
        "version": manifest.version,
        "language": program.language,
        "path": program.path,
        "private": private,
        "subAgent": program.sub_agent is not None,
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "registered": registry.tools.get(tool.name, (None,))[0] is program,
            }
            for tool in manifest.tools
        ],
        "commands": [command.name for command in manifest.commands],
        "apis": sorted(manifest.apis),
        "hooks": list(manifest.hooks),
        "libraries": list(manifest.libraries),
        "preload": manifest.preload,
        "debug": manifest.debug,
        "worker": seat.agents.worker_state(program.agent_id),
        "storeSize": len(store.text) if store else 0,
        "tokensSpent": {
            "response": meter.response_spent,
            "conversation": seat.room.journal.head.tokens_spent,
        },
        "modelCalls": {
            "spent": account.spent,
            "reserved": account.reserved,
            "refused": account.refused,
        },
    }
