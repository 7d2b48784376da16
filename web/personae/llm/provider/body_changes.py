"""Other ways to send the same request: what each quirk makes of a whole body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from personae.llm.provider import rewrites
from personae.llm.provider.rewrites import only_calls
from personae.llm.request.encoded import Message, Part, Stretch, spread
from personae.llm.request.tool_schemas import plain_schema

Body = dict[str, Any]
Change = Callable[[Body], Body]


def in_messages(rewrite: Callable[[list[Message]], list[Message]]) -> Callable[[Body], Body]:
    """A change of the messages."""
    return lambda body: {**body, "messages": rewrite([*spread(body["messages"])])}


def plain_schemas(body: Body) -> Body:
    tools = [
        {**tool, "function": {**function, "parameters": plain_schema(function["parameters"])}}
        for tool in body.get("tools", ())
        if (function := tool["function"])
    ]
    return {**body, "tools": tools} if tools else body


def whole(body: Body) -> Body:
    rest = {name: value for name, value in body.items() if name != "stream_options"}
    return {**rest, "stream": False}


def without_tools(body: Body) -> Body:
    rest = {name: value for name, value in body.items() if name not in ("tools", "tool_choice")}
    if any(message.get("tool_calls") for message in loose(body)):
        return in_messages(rewrites.rounds_as_text)(rest)
    return rest


def renamed_limit(body: Body) -> Body:
    renamed = {**body}
    if "max_tokens" in renamed:
        renamed["max_completion_tokens"] = renamed.pop("max_tokens")
    return renamed


def without_limit(body: Body) -> Body:
    limits = ("max_tokens", "max_completion_tokens")
    return {name: value for name, value in body.items() if name not in limits}


def with_reasoning(body: Body) -> Body:
    def added(part: Part) -> Part:
        if isinstance(part, Stretch) or not part.get("tool_calls"):
            return part
        return {**part, "reasoning_content": part.get("reasoning_content", "")}

    return {**body, "messages": [added(part) for part in body["messages"]]}


def empty_content(body: Body) -> Body:
    def filled(part: Part) -> Part:
        if isinstance(part, Stretch) or not only_calls(part):
            return part
        return {**part, "content": ""}

    return {**body, "messages": [filled(part) for part in body["messages"]]}


def loose(body: Mapping[str, Any]) -> list[Message]:
    """The messages that may hold more than text."""
    return [part for part in body["messages"] if not isinstance(part, Stretch)]


def cleared(part: Part, name: str) -> Part:
    if isinstance(part, Stretch):
        return part
    cleared = {key: value for key, value in part.items() if key != name}
    if cleared.get("tool_calls"):
        cleared["tool_calls"] = [_cleared_call(call, name) for call in cleared["tool_calls"]]
    return cleared


def _cleared_call(call: Mapping[str, Any], name: str) -> dict[str, Any]:
    function = {key: value for key, value in call["function"].items() if key != name}
    return {key: value for key, value in call.items() if key != name} | {"function": function}
