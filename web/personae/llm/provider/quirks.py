"""What single providers refuse, learnt from their errors and remembered.

A quirk is a short stable text; ``adapt`` applies quirks to a request body, ``learn`` reads a
new one out of a refusal. Quirks that depend on the server (``isFile``, empty content) are kept
for the base URL, those that depend on the model (sampling parameters) for base URL and model.
The memory is a plain mapping of texts to lists of texts, so that its owner can store it; what is
set to an empty list may be forgotten.
Invariant: a quirk never changes what the model is asked, only how.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from personae.errors import ModelError
from personae.llm.request.encoded import Message, Part, Stretch, spread

Memory = MutableMapping[str, list[str]]

_REFUSED = re.compile(
    r"unsupported|not support|unrecognized|unrecognised|unknown|unexpected|not permitted"
    r"|not allowed|extra (input|field)|additional propert|cannot both|only one of|not accept"
    r"|invalid (parameter|argument|field)|no such (parameter|field)|not a valid (parameter|field)"
    r"|not (available|implemented|recognized|recognised)",
    re.IGNORECASE,
)
_ABOUT_CONTENT = re.compile(
    r"\bcontent\b.*\b(null|none|string|empty|required|missing|nil|blank|non-empty)\b"
    r"|\b(null|none|empty|missing|non-empty)\b.*\bcontent\b",
    re.IGNORECASE | re.DOTALL,
)
_ROLES = re.compile(r"roles? must alternate|alternat\w+ (between )?user", re.IGNORECASE)

_IN_MESSAGES = ("isFile", "reasoning_content", "reasoning_details", "reasoning")
_OF_SERVER = ("stream_options",)
_OF_MODEL = ("top_p", "temperature", "tool_choice")

EMPTY_CONTENT = "content:empty"
MERGED_ROLES = "roles:merged"
RENAMED_LIMIT = "rename:max_tokens"
ADDED_REASONING = "add:reasoning_content"

_FOR_SERVER = (
    EMPTY_CONTENT,
    MERGED_ROLES,
    *(f"drop:{name}" for name in (*_IN_MESSAGES, *_OF_SERVER)),
)
KNOWN = frozenset(
    (*_FOR_SERVER, RENAMED_LIMIT, ADDED_REASONING, *(f"drop:{name}" for name in _OF_MODEL))
)
"""All that may be remembered: facts about a provider, nothing of what was said."""


def recall(memory: Memory, base_url: str, model: str) -> frozenset[str]:
    return frozenset([*memory.get(base_url, ()), *memory.get(_model_key(base_url, model), ())])


def remember(memory: Memory, base_url: str, model: str, quirks: frozenset[str]) -> None:
    of_server = {quirk for quirk in quirks if quirk in _FOR_SERVER}
    for key, kept in (
        (base_url, of_server),
        (_model_key(base_url, model), set(quirks) - of_server),
    ):
        if kept or key in memory:
            memory[key] = sorted(kept)


def learn(error: ModelError, body: Mapping[str, Any]) -> str | None:
    """The quirk a refusal tells of, given the body that was refused; toggling it may help."""
    if error.detail.get("status") not in (400, 422, 500):
        return None
    words = " ".join(str(word) for word in error.detail.get("provider", {}).values())
    if _ROLES.search(words):
        return MERGED_ROLES
    if _names(words, "max_tokens") or _names(words, "max_completion_tokens"):
        if _limit_misnamed(words, body):
            return RENAMED_LIMIT
        return None
    dropped = _dropped(words, body)
    if dropped:
        return f"drop:{dropped}"
    if _names(words, "reasoning_content") and not _in_messages(body, "reasoning_content"):
        return ADDED_REASONING
    if _ABOUT_CONTENT.search(words) and any(map(_only_calls, spread(body["messages"]))):
        return EMPTY_CONTENT
    return None


def adapt(body: Mapping[str, Any], quirks: frozenset[str]) -> dict[str, Any]:
    """A copy of ``body`` that the provider with these quirks accepts."""
    dropped = {quirk.removeprefix("drop:") for quirk in quirks if quirk.startswith("drop:")}
    adapted = {name: value for name, value in body.items() if name not in dropped}
    if RENAMED_LIMIT in quirks and "max_tokens" in adapted:
        adapted["max_completion_tokens"] = adapted.pop("max_tokens")
    in_messages = dropped.intersection(_IN_MESSAGES)
    messages = [_part(part, in_messages, quirks) for part in body["messages"]]
    adapted["messages"] = _merged(spread(messages)) if MERGED_ROLES in quirks else messages
    return adapted


def _dropped(words: str, body: Mapping[str, Any]) -> str | None:
    if _names(words, "isFile") and _in_messages(body, "isFile"):
        return "isFile"
    if not _REFUSED.search(words):
        return None
    top = (name for name in (*_OF_SERVER, *_OF_MODEL) if name in body and _names(words, name))
    inner = (name for name in _IN_MESSAGES if _names(words, name) and _in_messages(body, name))
    return next(top, None) or next(inner, None)


def _limit_misnamed(words: str, body: Mapping[str, Any]) -> bool:
    """True when the limit's name is refused, not its value."""
    other = "max_completion_tokens" if "max_tokens" in body else "max_tokens"
    sent = "max_tokens" in body or "max_completion_tokens" in body
    return sent and bool(_REFUSED.search(words) or _names(words, other))


def _part(part: Part, dropped: set[str], quirks: frozenset[str]) -> Part:
    if isinstance(part, Stretch):
        return part
    adapted = {name: value for name, value in part.items() if name not in dropped}
    if _only_calls(adapted):
        adapted["content"] = "" if EMPTY_CONTENT in quirks else None
    if ADDED_REASONING in quirks and adapted.get("tool_calls"):
        adapted.setdefault("reasoning_content", "")
    return adapted


def _merged(messages: Iterable[Message]) -> list[Message]:
    """Neighbours of one role joined by a blank line; tool rounds stay as they are.

    Who insists on alternating roles knows no ``isFile``: a joined message loses it.
    """
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else {}
        mergeable = message["role"] in ("user", "assistant") and message["role"] == last.get("role")
        if mergeable and not (last.get("tool_calls") or message.get("tool_calls")):
            merged[-1] = {
                "role": last["role"],
                "content": f"{last['content']}\n\n{message['content']}",
            }
        else:
            merged.append(message)
    return merged


def _only_calls(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls")) and not message.get("content")


def _in_messages(body: Mapping[str, Any], name: str) -> bool:
    return any(name in message for message in spread(body["messages"]))


def _names(words: str, name: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", words) is not None


def _model_key(base_url: str, model: str) -> str:
    return f"{base_url} {model}"
