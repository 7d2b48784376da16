"""Other ways to send the same request: what each quirk makes of a body's messages and tools.

Invariant: they get values and return new ones; what the model is asked stays, only its form is
another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from personae.llm.request.encoded import Message

BEGINNING = "(The conversation begins.)"
"""Said by the user where a server wants the user's words first."""
GO_ON = "(Please go on.)"
"""Said by the user where a server wants the user's words last."""
PICTURE = "[picture]"
"""Stands for a picture where the model sees none."""

_PICTURE_PARTS = ("image_url", "image", "input_image")


def joined_roles(messages: Iterable[Message]) -> list[Message]:
    """User and assistant in turn, the user first; tool rounds stay as they are.

    Neighbours of one role are joined by a blank line. Who insists on alternating roles knows no
    ``isFile``: a joined message loses it.
    """
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else {}
        mergeable = message["role"] in ("user", "assistant") and message["role"] == last.get("role")
        if mergeable and not (last.get("tool_calls") or message.get("tool_calls")):
            content = _joined(last.get("content"), message.get("content"))
            merged[-1] = {"role": last["role"], "content": content}
            continue
        if message["role"] == "assistant" and last.get("role", "system") == "system":
            merged.append({"role": "user", "content": BEGINNING})
        if message["role"] == "user" and last.get("role") == "tool":
            merged.append({"role": "assistant", "content": "…"})
        merged.append(message)
    return merged


def system_in_front(messages: Iterable[Message]) -> list[Message]:
    """One system message, the first of all."""
    system, rest = _apart(messages)
    return [{"role": "system", "content": system}, *rest] if system else rest


def system_as_user(messages: Iterable[Message]) -> list[Message]:
    """What the system says comes first in the first message, which is the user's."""
    system, rest = _apart(messages)
    if not system:
        return rest
    if rest and rest[0]["role"] == "user":
        return [{"role": "user", "content": _joined(system, rest[0].get("content"))}, *rest[1:]]
    return [{"role": "user", "content": system}, *rest]


def user_last(messages: Sequence[Message]) -> list[Message]:
    """The user speaks before the model does."""
    if messages and messages[-1]["role"] in ("assistant", "system"):
        return [*messages, {"role": "user", "content": GO_ON}]
    return [*messages]


def without_pictures(messages: Iterable[Message]) -> list[Message]:
    """Text in place of each picture; what then is text alone is sent as such."""
    return [_in_words(message) if has_pictures(message) else message for message in messages]


def has_pictures(message: Message) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(
        isinstance(part, Mapping) and part.get("type") in _PICTURE_PARTS for part in content
    )


def rounds_as_text(messages: Iterable[Message]) -> list[Message]:
    """Tool rounds of another model, for one that knows no tools."""
    told: list[Message] = []
    names: dict[str, str] = {}
    for message in messages:
        if message["role"] == "tool":
            called = names.get(str(message.get("tool_call_id")), "")
            said = f"[Result of {called}] {message.get('content') or ''}"
            told.append({"role": "user", "content": said})
        elif message.get("tool_calls"):
            names |= {call["id"]: _written(call["function"]) for call in message["tool_calls"]}
            if message.get("content"):
                told.append({"role": "assistant", "content": message["content"]})
        else:
            told.append(message)
    return told


def thought_once(messages: Iterable[Message]) -> list[Message]:
    """No reasoning beside the text of a round: the text says enough."""
    kept = ("role", "content", "tool_calls")
    return [
        {name: message[name] for name in kept}
        if message.get("tool_calls") and message.get("content")
        else message
        for message in messages
    ]


def single_calls(messages: Iterable[Message]) -> list[Message]:
    """A round of several calls as several rounds of one, each with its result."""
    told: list[Message] = []
    waiting: dict[str, dict[str, Any]] = {}
    for message in messages:
        calls = message.get("tool_calls") or ()
        if message["role"] == "tool" and (asked := waiting.pop(message["tool_call_id"], None)):
            told.append(asked)
        if len(calls) > 1:
            first = {**message, "tool_calls": calls[:1]}
            told.append(first)
            waiting |= {
                one["id"]: {"role": "assistant", "content": None, "tool_calls": [one]}
                for one in calls[1:]
            }
        else:
            told.append(message)
    return told


def _apart(messages: Iterable[Message]) -> tuple[str, list[Message]]:
    system: list[str] = []
    rest: list[Message] = []
    for message in messages:
        if message["role"] == "system":
            system.append(str(message.get("content") or ""))
        else:
            rest.append(message)
    return "\n\n".join(filter(None, system)), rest


def _joined(first: Any, second: Any) -> Any:
    """Two contents as one; a list of parts when one of them is such a list."""
    if isinstance(first, list) or isinstance(second, list):
        return [*_parts(first), *_parts(second)]
    return "\n\n".join(filter(None, (first, second)))


def _parts(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []


def _in_words(message: Message) -> Message:
    texts = (
        PICTURE if part.get("type") in _PICTURE_PARTS else str(part.get("text") or "")
        for part in message["content"]
    )
    return {**message, "content": "\n\n".join(filter(None, texts))}


def _written(function: Mapping[str, Any]) -> str:
    return f"{function['name']}({json.dumps(function.get('arguments') or '', ensure_ascii=False)})"


def only_calls(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls")) and not message.get("content")
