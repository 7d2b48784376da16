"""Builds the body of a chat-completions request.

Invariants: every tool call of an assistant message is answered by exactly one tool message
right after it, in order (a stub stands in for a missing answer, orphans are dropped); ids are our
own, nine letters and digits as the strictest provider wants them, and the same in every request of
a turn; arguments are JSON text of an object and names are such as every
provider takes; every string is well-formed Unicode. One bad reply in the history can therefore
not make providers refuse all later requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from personae.llm.arguments import sendable_arguments
from personae.llm.request.encoded import Message, Part, Stretch
from personae.llm.request.tool_schemas import sendable_schema
from personae.package.model import ToolDefinition
from personae.unicode import well_formed, well_formed_json

ToolChoice = Literal["auto", "none", "required"]

CANCELLED = "[The call was cancelled before it had a result.]"


@dataclass(frozen=True, slots=True)
class Sampling:
    """The user's settings for a request; None leaves the choice to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


def system_message(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def user_message(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def file_message(text: str) -> dict[str, Any]:
    """The context block or the preload block (reference, System prompt macros)."""
    return {"role": "user", "content": text, "isFile": True}


def tool_message(call_id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def tool_definition(tool: ToolDefinition) -> dict[str, Any]:
    """A tool as the request lists it (reference, The tool definitions array)."""
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": sendable_schema(tool.parameters),
    }
    return {"type": "function", "function": function}


def build_body(
    messages: Sequence[Part],
    *,
    tools: Iterable[ToolDefinition] = (),
    sampling: Sampling | None = None,
    tool_choice: ToolChoice | None = None,
    stream: bool = True,
) -> dict[str, Any]:
    """The request body, but for the model, which belongs to the endpoint.

    ``messages``: stretches, and dicts as the functions above and ``Reply.message`` make them, in
    order.
    """
    body: dict[str, Any] = {"messages": sendable(messages), "stream": stream}
    if stream:
        body["stream_options"] = {"include_usage": True}
    definitions = [tool_definition(tool) for tool in tools]
    if definitions:
        body["tools"] = well_formed_json(definitions)
        if tool_choice:
            body["tool_choice"] = tool_choice
    return body | _sampling(sampling or Sampling())


def call_ids(messages: Iterable[Part]) -> set[str]:
    """The ids of the calls in messages, as they came: what new ones must differ from."""
    loose = (part for part in messages if not isinstance(part, Stretch))
    return {str(call.get("id")) for message in loose for call in message.get("tool_calls") or ()}


def sendable(messages: Sequence[Part]) -> list[Part]:
    """The messages with every tool call answered and nothing a provider chokes on."""
    out: list[Part] = []
    ids = (f"call{number:05d}" for number in count(1))
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if isinstance(message, Stretch):
            out.append(message)
        elif message.get("tool_calls"):
            answers = _following_answers(messages, at)
            out += _round(message, answers, ids)
            at += len(answers)
        elif message["role"] != "tool" and not _blank_assistant(message):
            out.append(_plain(message))
    return out


def _plain(message: Message) -> dict[str, Any]:
    """A message of text; long histories consist of them, so the usual form is not searched."""
    content = message.get("content") or ""
    if len(message) == 2 and isinstance(content, str):
        return {"role": message["role"], "content": well_formed(content)}
    return dict(well_formed_json({**message, "content": content}))


def _sampling(sampling: Sampling) -> dict[str, Any]:
    values = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
    }
    return {name: value for name, value in values.items() if value is not None}


def _following_answers(messages: Sequence[Part], at: int) -> list[Message]:
    answers: list[Message] = []
    for part in messages[at:]:
        if isinstance(part, Stretch) or part["role"] != "tool":
            break
        answers.append(part)
    return answers


def _round(message: Message, answers: list[Message], ids: Iterator[str]) -> list[dict[str, Any]]:
    """An assistant message with its calls, and one answer for each of them."""
    calls, results = [], []
    left = list(answers)
    renamed: dict[str, str] = {}
    for call in message["tool_calls"]:
        id_ = next(ids)
        renamed.setdefault(str(call.get("id") or ""), id_)
        calls.append(_call(call, id_))
        results.append(tool_message(id_, well_formed(_pop_answer(left, call.get("id")))))
    rest = {name: value for name, value in message.items() if name not in ("tool_calls", "content")}
    said = {"role": rest.pop("role"), "content": message.get("content")}
    fields = _with_ids(rest, renamed)
    return [
        {**well_formed_json({**said, "tool_calls": [], **fields}), "tool_calls": calls},
        *results,
    ]


def _pop_answer(left: list[Message], id_: Any) -> str:
    """The first answer to ``id_``, taken out: calls that share an id share the answers."""
    for answer in left:
        if answer.get("tool_call_id") == id_:
            left.remove(answer)
            return str(answer.get("content") or "")
    return CANCELLED


def _with_ids(value: Any, renamed: Mapping[str, str]) -> Any:
    """A provider's own fields, where they name a call: it has another id now."""
    if isinstance(value, str):
        return renamed.get(value, value) if value else value
    if isinstance(value, Mapping):
        return {name: _with_ids(one, renamed) for name, one in value.items()}
    return [_with_ids(one, renamed) for one in value] if isinstance(value, list) else value


def _call(call: Mapping[str, Any], id_: str) -> dict[str, Any]:
    function = call["function"]
    arguments = sendable_arguments(well_formed(str(function.get("arguments") or "")))
    named = {"name": _sendable_name(str(function["name"])), "arguments": arguments}
    whole = {"id": id_, "type": "function", "function": {**function, **named}}
    return dict(well_formed_json({**whole, **{n: v for n, v in call.items() if n not in whole}}))


def _sendable_name(name: str) -> str:
    """Letters, digits, ``_`` and ``-``, 1 to 64: a name the model made up may be anything."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _blank_assistant(message: Message) -> bool:
    return message["role"] == "assistant" and not str(message.get("content") or "").strip()
