"""The messages of a request, from what a character is and what was said.

Reference: System prompt macros. The order is that of ``assemble``. Everything here depends on its
arguments alone. Messages are chat-completions objects, with the vendor field
``isFile``.
"""

from __future__ import annotations

from collections.abc import Iterable

from personae.llm.request.body import file_message, system_message
from personae.llm.request.encoded import Part
from personae.package.model import Package

MACRO = "%%CHARACTER_INSTRUCTIONS%%"
CONTEXT_PREFIX = (
    "The following information is provided as background context for this character. It is not "
    "always relevant. Only refer to it if it's relevant to the discussion:"
)


def assemble(package: Package, preload: Iterable[str], history: Iterable[Part]) -> list[Part]:
    """The request's messages: what the character is, what agents add, what was said."""
    fixed = [
        system_message(system_prompt(package)),
        file_message(context_block(package)),
        file_message("\n\n".join(text for text in preload if text)),
        {"role": "assistant", "content": package.intro},
    ]
    present = (message for message in fixed if message["content"].strip())
    return [*present, *history]


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
