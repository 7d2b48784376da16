"""Requests that were refused, and what the refusal tells: one function for each thing.

A function is true when the words tell of it and the request was such that it can be sent in
another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from personae.llm.provider import refusal_words as words_for
from personae.llm.provider.refusal_words import names
from personae.llm.provider.rewrites import has_pictures, only_calls
from personae.llm.request.encoded import Message, spread

MERGED_ROLES = "roles:merged"
"""The quirk that changes what others are told by."""
USUAL_FIELDS = frozenset(
    (
        *("role", "content", "tool_calls", "tool_call_id", "name"),
        *("id", "type", "function", "arguments", "model", "messages", "tools", "stream"),
    )
)
"""Fields without which a message says nothing."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that was refused."""

    words: str
    body: Mapping[str, Any]
    held: frozenset[str]
    """The quirks it was sent with."""
    plain: bool
    """The status is one that speaks of the request, so that what is named can be believed."""

    @property
    def messages(self) -> Iterator[Message]:
        return spread(self.body["messages"])

    def refuses(self, name: str) -> bool:
        """Whether a field is named as unwanted."""
        return self.plain and names(self.words, name) and bool(words_for.NAMED.search(self.words))


def says(pattern: re.Pattern[str]) -> Callable[[Refusal], bool]:
    return lambda refusal: bool(pattern.search(refusal.words))


def schemas(refusal: Refusal) -> bool:
    return "tools" in refusal.body and bool(words_for.SCHEMA.search(refusal.words))


def streaming(refusal: Refusal) -> bool:
    refused = refusal.refuses("stream") or bool(words_for.WHOLE_ONLY.search(refusal.words))
    return bool(refusal.body.get("stream")) and refused


def _roles(refusal: Refusal) -> list[str]:
    return [message["role"] for message in refusal.messages]


def system_elsewhere(refusal: Refusal) -> bool:
    roles = _roles(refusal)
    return "system" in roles[1:] and bool(words_for.SYSTEM_PLACE.search(refusal.words))


def system(refusal: Refusal) -> bool:
    if "system" not in _roles(refusal):
        return False
    # Who still wants another order once roles alternate counts the system among them.
    order = MERGED_ROLES in refusal.held and bool(words_for.ROLES.search(refusal.words))
    return order or bool(words_for.NO_SYSTEM.search(refusal.words))


def reply_at_the_end(refusal: Refusal) -> bool:
    last = _roles(refusal)[-1:]
    wanted = bool(words_for.USER_LAST.search(refusal.words))
    return wanted and last in (["assistant"], ["system"])


def several_calls(refusal: Refusal) -> bool:
    counts = [len(message.get("tool_calls") or ()) for message in refusal.messages]
    return max(counts, default=0) > 1 and bool(words_for.SINGLE_CALLS.search(refusal.words))


def pictures(refusal: Refusal) -> bool:
    refused = bool(words_for.NO_PICTURES.search(refusal.words))
    return refused and any(map(has_pictures, refusal.messages))


def tools(refusal: Refusal) -> bool:
    if "tools" not in refusal.body:
        return False
    return refusal.refuses("tools") or words_for.refuses_tools(refusal.words)


def limit_name(refusal: Refusal) -> bool:
    """The limit's name is refused, not its value."""
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    sent = next((name for name in other if name in refusal.body), None)
    if sent is None or not refusal.plain:
        return False
    # Once it was called the other way, to refuse that, too, means neither is wanted.
    named = names(refusal.words, sent) or names(refusal.words, other[sent])
    unwanted = bool(words_for.NAMED.search(refusal.words))
    return named and (unwanted or names(refusal.words, other[sent]))


def limit(refusal: Refusal) -> bool:
    sent = ("max_tokens", "max_completion_tokens")
    return any(name in refusal.body and refusal.refuses(name) for name in sent)


def lack_of_reasoning(refusal: Refusal) -> bool:
    name = "reasoning_content"
    return (
        refusal.plain
        and names(refusal.words, name)
        and name not in uncommon_fields(refusal.messages)
    )


def content(refusal: Refusal) -> bool:
    about = refusal.plain and bool(words_for.CONTENT.search(refusal.words))
    return about and any(map(only_calls, refusal.messages))


def uncommon_fields(messages: Iterable[Message]) -> set[str]:
    """The fields of messages and calls that not every provider knows."""
    found: set[str] = set()
    for message in messages:
        found |= message.keys()
        for call in message.get("tool_calls") or ():
            found |= call.keys() | call["function"].keys()
    return found - USUAL_FIELDS
