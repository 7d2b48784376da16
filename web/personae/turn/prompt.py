"""The messages of a request, from what a character is and what was said.

Reference: System prompt macros; architecture: Request assembly, in this order. Everything here
depends on its arguments alone. Messages are chat-completions objects, with the vendor field
``isFile``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from personae.conversation.edits import last_user
from personae.conversation.entries import Entry
from personae.conversation.studio_history import is_turn
from personae.llm.request.body import file_message, system_message, tool_message
from personae.llm.request.encoded import Part
from personae.llm.stream.reply import call_dict
from personae.package.model import Package
from personae.turn.earlier_turns import EarlierTurns

Message = dict[str, Any]

MACRO = "%%CHARACTER_INSTRUCTIONS%%"
CONTEXT_PREFIX = (
    "The following information is provided as background context for this character. It is not "
    "always relevant. Only refer to it if it's relevant to the discussion:"
)


def assemble(
    package: Package, preload: Iterable[str], entries: list[Entry], earlier: EarlierTurns
) -> list[Part]:
    """The request's messages: what the character is, what agents add, what was said."""
    fixed = [
        system_message(system_prompt(package)),
        file_message(context_block(package)),
        file_message("\n\n".join(text for text in preload if text)),
        {"role": "assistant", "content": package.intro},
    ]
    present = (message for message in fixed if message["content"].strip())
    return [*present, *history(entries, earlier)]


def system_prompt(package: Package) -> str:
    """The template with its macro expanded once; without a template the instructions alone."""
    template = package.system_prompt
    return (
        template.replace(MACRO, package.instructions) if template.strip() else package.instructions
    )


def context_block(package: Package) -> str:
    """The context files by path under the prefix; dot-files are for agents only. May be empty."""
    files = [
        text
        for path, text in sorted(package.context.items())
        if not any(part.startswith(".") for part in path.split("/"))
    ]
    return "\n\n".join([CONTEXT_PREFIX, *files]) if files else ""


def current_turn(entries: Sequence[Entry]) -> int:
    """Where the current turn begins."""
    return last_user(entries) or 0


def history(entries: list[Entry], earlier: EarlierTurns) -> list[Part]:
    """Text of earlier turns, everything of the current one; never rejected ones or logs."""
    start = current_turn(entries)
    said = earlier.stretch(entries, start)
    current = (m for entry in entries[start:] if (m := _current(entry)) is not None)
    return [*current] if said is None else [said, *current]


def _current(entry: Entry) -> Message | None:
    """An entry of the current turn, or None when it is not sent.

    ``llm.request`` answers calls that have no result and drops results that have no call.
    """
    if entry.rejected:
        return None
    if entry.role == "tool":
        return tool_message(entry.tool_call_id or "", entry.content)
    if entry.tool_calls:
        calls = [call_dict(call) for call in entry.tool_calls]
        return {**_said(entry), "tool_calls": calls, **(entry.reasoning_fields or {})}
    return _said(entry) if is_turn(entry) else None


def _said(entry: Entry) -> Message:
    return {"role": entry.role, "content": entry.content}
