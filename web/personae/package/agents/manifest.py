"""Reads the tags of a manifest into a Manifest (reference: The manifest, Hook events).

Lenient where the reference is (unknown tags and events only warn), strict where a mistake would
show up in the middle of a conversation (tool parameters, commands). Every problem has its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

from personae.package.agents.manifest_block import Block, NoManifest, find_block
from personae.package.json_schema import schema_fault
from personae.package.json_text import JsonFault, parse_prefix
from personae.package.model import Command, HookEvent, Manifest, ToolDefinition
from personae.package.report import Report
from personae.ports import Language

HOOKS: tuple[HookEvent, ...] = get_args(HookEvent)
APIS = frozenset(
    {"studio.history", "studio.context", "studio.model", "studio.grants", "studio.web"}
)
UNDECLARED_APIS = frozenset({"studio.toast", "studio.log"})
"""Open to every agent; declaring them does no harm."""

MAX_TAGS = 1000
"""Tags of one manifest."""

NO_PARAMETERS: Mapping[str, Any] = {"type": "object", "properties": {}}

_TAG = re.compile(r"\s*\*?\s*@([A-Za-z][\w-]*)(?:[ \t]+(.*))?$")
_DECORATION = re.compile(r"^[ \t]*\*(?!/)[ \t]?")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_IDENTIFIER = re.compile(r"[^\W\d]\w*")


@dataclass(slots=True)
class _Tag:
    name: str
    text: str
    line: int
    more: list[str] = field(default_factory=list)
    """The lines up to the next tag."""

    @property
    def word(self) -> str:
        return self.text.split(maxsplit=1)[0] if self.text.strip() else ""

    @property
    def sentence(self) -> str:
        """The text with the lines that continue it, up to a blank one."""
        lines = [self.text.strip()]
        for line in self.more:
            if not line.strip():
                break
            lines.append(line.strip())
        return " ".join(filter(None, lines))


@dataclass(slots=True)
class _Draft:
    """A manifest while its tags are read."""

    report: Report
    path: str
    agent: str = ""
    version: str | None = None
    description: str | None = None
    tools: list[ToolDefinition] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    preload: bool = False
    debug: bool = False
    apis: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)
    hooks: list[HookEvent] = field(default_factory=list)
    in_tool: bool = False
    """Whether a @tool line that counts came before the current tag."""

    def error(self, tag: _Tag, message: str) -> None:
        self.report.error(self.path, f"@{tag.name}: {message}", tag.line)

    def warn(self, tag: _Tag, message: str) -> None:
        self.report.warning(self.path, f"@{tag.name}: {message}", tag.line)

    def change_tool(self, **changes: Any) -> None:
        old = self.tools[-1]
        facts = {"name": old.name, "description": old.description, "parameters": old.parameters}
        self.tools[-1] = ToolDefinition(**{**facts, **changes})


def parse_manifest(path: str, source: str, language: Language, report: Report) -> Manifest | None:
    """The manifest of an agent's source; None when there is none to use (the report says why)."""
    try:
        block = find_block(source, language)
    except NoManifest as reason:
        report.error(path, str(reason), reason.line)
        return None
    draft = _Draft(report, path)
    tags = _tags(block)
    if len(tags) > MAX_TAGS:
        report.error(path, f"the manifest has over {MAX_TAGS:,} tags", block.first_line)
        return None
    for tag in tags:
        reader = _READERS.get(tag.name)
        if reader:
            reader(draft, tag)
        else:
            _suspect(draft, tag)
    if not draft.agent:
        report.error(path, "the manifest has no @agent line with the agent's id", block.first_line)
        return None
    return _finish(draft)


def _finish(draft: _Draft) -> Manifest:
    return Manifest(
        agent=draft.agent,
        version=draft.version,
        description=draft.description,
        tools=tuple(draft.tools),
        commands=tuple(draft.commands),
        preload=draft.preload,
        apis=frozenset(draft.apis),
        libraries=tuple(dict.fromkeys(draft.libraries)),
        hooks=tuple(dict.fromkeys(draft.hooks)),
        debug=draft.debug,
    )


def _tags(block: Block) -> list[_Tag]:
    tags: list[_Tag] = []
    for number, line in enumerate(block.text.split("\n"), block.first_line):
        match = _TAG.match(line)
        if match:
            tags.append(_Tag(match[1], match[2] or "", number))
        elif tags:
            tags[-1].more.append(_DECORATION.sub("", line))
    return tags


def _agent(draft: _Draft, tag: _Tag) -> None:
    if not tag.word:
        return draft.error(tag, "the agent's id is missing")
    if draft.agent:
        return draft.warn(tag, f"given twice; {draft.agent!r} counts")
    draft.agent = tag.word
    return None


def _version(draft: _Draft, tag: _Tag) -> None:
    draft.version = tag.text.strip() or None


def _description(draft: _Draft, tag: _Tag) -> None:
    draft.description = tag.sentence or None


def _tool(draft: _Draft, tag: _Tag) -> None:
    draft.in_tool = False
    if not tag.word:
        return draft.error(tag, "the tool's name is missing")
    if any(tool.name == tag.word for tool in draft.tools):
        return draft.warn(tag, f"{tag.word!r} is declared twice; the first counts")
    if not _TOOL_NAME.fullmatch(tag.word):
        draft.warn(tag, f"{tag.word!r} is refused by most models: use letters, digits, _ and -")
    draft.tools.append(ToolDefinition(tag.word, "", NO_PARAMETERS))
    draft.in_tool = True
    return None


def _tool_description(draft: _Draft, tag: _Tag) -> None:
    if draft.in_tool:
        draft.change_tool(description=tag.sentence)
    else:
        draft.warn(tag, "it belongs to no @tool and is ignored")


def _tool_params(draft: _Draft, tag: _Tag) -> None:
    if not draft.in_tool:
        return draft.warn(tag, "it belongs to no @tool and is ignored")
    text = "\n".join([tag.text, *tag.more])
    try:
        schema, end = parse_prefix(text)
    except JsonFault as fault:
        return draft.error(tag, _json_message(text, fault, tag.line))
    reason = schema_fault(schema)
    if reason:
        return draft.error(tag, reason)
    rest = text[end:].split("\n", 1)[0].strip()
    if rest:
        draft.error(tag, f"there is {rest[:40]!r} after the end of the JSON")
    return draft.change_tool(parameters={"type": "object", **schema})


def _json_message(text: str, fault: JsonFault, first_line: int) -> str:
    if not text.strip():
        return "the JSON Schema is missing"
    if fault.offset is None:
        return fault.message
    if not text[fault.offset :].strip():
        return f"the JSON does not close before the manifest goes on ({fault.message})"
    line = first_line + text.count("\n", 0, fault.offset)
    near = text[fault.offset : fault.offset + 20].split("\n")[0]
    return f"{fault.message}, on line {line} at {near!r}"


def _command(draft: _Draft, tag: _Tag) -> None:
    words = tag.text.split()
    name = words[0].removeprefix("@") if words else ""
    if len(words) < 2 or not name:
        return draft.error(tag, "the form is: @command @name exportedFunction")
    if not _IDENTIFIER.fullmatch(words[1]):
        return draft.error(tag, f"{words[1]!r} cannot be the name of a function")
    if any(command.name == name for command in draft.commands):
        return draft.warn(tag, f"@{name} is declared twice; the first counts")
    draft.commands.append(Command(name, words[1]))
    return None


def _flag(draft: _Draft, tag: _Tag) -> bool:
    word = tag.word.lower()
    if word not in ("true", "false"):
        draft.warn(tag, f"{tag.text.strip()!r} is neither true nor false; it counts as false")
    return word == "true"


def _preload(draft: _Draft, tag: _Tag) -> None:
    draft.preload = _flag(draft, tag)


def _debug(draft: _Draft, tag: _Tag) -> None:
    draft.debug = _flag(draft, tag)


def _api(draft: _Draft, tag: _Tag) -> None:
    if len(tag.text.split()) != 1:
        draft.warn(tag, "one namespace per line, and nothing else on it")
    if tag.word in APIS:
        draft.apis.append(tag.word)
    elif tag.word not in UNDECLARED_APIS:
        draft.warn(tag, f"{tag.word!r} is no namespace; there are {', '.join(sorted(APIS))}")


def _lib(draft: _Draft, tag: _Tag) -> None:
    if tag.word:
        draft.libraries.append(tag.word)
    else:
        draft.error(tag, "the library's name is missing")


def _hook(draft: _Draft, tag: _Tag) -> None:
    event = next((hook for hook in HOOKS if hook == tag.word), None)
    if event:
        draft.hooks.append(event)
    else:
        draft.warn(tag, f"{tag.word!r} is no event; there are {', '.join(HOOKS)}")


def _suspect(draft: _Draft, tag: _Tag) -> None:
    """A tag close to a known one is most likely a slip; any other is the author's business."""
    from difflib import get_close_matches

    close = get_close_matches(tag.name, _READERS, 1, 0.8)
    if close:
        draft.warn(tag, f"unknown and ignored; did you mean @{close[0]}?")


_READERS: dict[str, Callable[[_Draft, _Tag], None]] = {
    "agent": _agent,
    "version": _version,
    "description": _description,
    "tool": _tool,
    "tool-description": _tool_description,
    "tool-params": _tool_params,
    "command": _command,
    "preload": _preload,
    "api": _api,
    "lib": _lib,
    "hook": _hook,
    "debug": _debug,
}
