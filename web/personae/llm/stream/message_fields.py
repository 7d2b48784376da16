"""Collects what a provider sends beside the text: its reasoning, and fields that it wants back.

Reasoning comes as ``reasoning_content`` or ``reasoning`` (text), ``reasoning_details`` or
``thinking_blocks`` (a list of typed blocks), often several with the same words. Each is kept under
its own name, since providers refuse a tool round whose assistant message lacks the reasoning they
sent; the reader sees the words once. Any other field that is not known (signatures, cache marks) is
kept, too. Invariant: linear in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personae.unicode import well_formed, well_formed_json

_TEXT_FIELDS = ("reasoning_content", "reasoning")
_BLOCK_FIELDS = ("reasoning_details", "thinking_blocks")
_BLOCK_TEXTS = ("text", "summary", "thinking")
_MERGED_TYPES = ("reasoning.text", "reasoning.summary", "thinking")
_READ = frozenset(
    (
        *("role", "content", "tool_calls", "images", "image", "id", "index", "type", "name"),
        *(*_TEXT_FIELDS, *_BLOCK_FIELDS),
    )
)
"""Fields that are read elsewhere, or that say nothing of their own."""
_REPORTS = frozenset(
    (
        *("refusal", "annotations", "audio", "function_call", "logprobs", "citations"),
        *("token_ids", "prompt_token_ids", "search_results", "executed_tools", "stop_reason"),
        *("finish_reason", "usage", "tool_call_id", "native_finish_reason", "matched_stop"),
    )
)
"""Fields that tell of the reply; no provider takes them in a request."""


def sent_back(stored: Mapping[str, Any], *, whole: bool) -> dict[str, Any]:
    """What of an entry's stored fields goes into a request: none that the request says itself, for
    a conversation may be somebody's file.

    ``whole``: they are known to come from who is asked; else its reasoning alone is sent.
    """
    fields = {name: stored[name] for name in _TEXT_FIELDS if isinstance(stored.get(name), str)}
    fields |= {name: stored[name] for name in _BLOCK_FIELDS if isinstance(stored.get(name), list)}
    return {**(unknown(stored) if whole else {}), **fields}


class _Block:
    """One typed block: texts arrive in pieces, everything else is assigned."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        self._facts: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self.add(first)

    def continues_with(self, block: Mapping[str, Any]) -> bool:
        same = all(self._facts.get(name) == block.get(name) for name in ("type", "index"))
        if not same or block.get("type") not in _MERGED_TYPES:
            return False
        # A signature ends its block: words that follow one are the next block's.
        return not (self._facts.get("signature") and any(map(block.get, _BLOCK_TEXTS)))

    def add(self, block: Mapping[str, Any]) -> None:
        for name, value in block.items():
            if name in _BLOCK_TEXTS and isinstance(value, str):
                self._texts.setdefault(name, []).append(value)
            elif value is not None or name not in self._facts:
                self._facts[name] = value

    def value(self) -> dict[str, Any]:
        texts = {name: "".join(pieces) for name, pieces in self._texts.items()}
        joined: dict[str, Any] = well_formed_json({**self._facts, **texts})
        return joined


class _Blocks:
    def __init__(self) -> None:
        self._blocks: list[_Block] = []

    def add(self, sent: list[Any]) -> str:
        """The words of the blocks."""
        blocks = [block for block in sent if isinstance(block, Mapping)]
        for block in blocks:
            if self._blocks and self._blocks[-1].continues_with(block):
                self._blocks[-1].add(block)
            else:
                self._blocks.append(_Block(block))
        shown = [block.get(name) for block in blocks for name in _BLOCK_TEXTS]
        return "".join(text for text in shown if isinstance(text, str))

    def values(self) -> list[dict[str, Any]]:
        return [block.value() for block in self._blocks]


class MessageFields:
    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._blocks: dict[str, _Blocks] = {}
        self._others: dict[str, Any] = {}

    def feed(self, delta: Mapping[str, Any]) -> str:
        """Takes one delta; the words to show, once."""
        words = [self._text(name, delta.get(name)) for name in _TEXT_FIELDS]
        for name in _BLOCK_FIELDS:
            if isinstance(sent := delta.get(name), list) and sent:
                words.append(self._blocks.setdefault(name, _Blocks()).add(sent))
        for name, value in unknown(delta).items():
            value = _without_known_twins(value, delta)
            if not empty(value):
                self._others[name] = merged(self._others.get(name), value)
        return next((text for text in words if text), "")

    def fields(self) -> dict[str, Any]:
        """What to send back, under the names it came with."""
        fields: dict[str, Any] = {
            name: well_formed("".join(pieces)) for name, pieces in self._texts.items()
        }
        fields |= {name: blocks.values() for name, blocks in self._blocks.items()}
        for block in fields.get("thinking_blocks", ()):
            block.pop("index", None)  # says where a piece belongs; no provider takes it back
        return fields | dict(well_formed_json(self._others))

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            return ""
        self._texts.setdefault(name, []).append(value)
        return value


def unknown(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a message or a call that are not read here and hold something."""
    return {
        str(name): one
        for name, one in value.items()
        if name not in _READ and name not in _REPORTS and not empty(one)
    }


def empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def merged(before: Any, now: Any) -> Any:
    """A field that came again: objects are merged, lists grow, anything else is assigned."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        return {**before, **{name: merged(before.get(name), now[name]) for name in now}}
    if isinstance(before, list) and isinstance(now, list):
        return before + [one for one in now if one not in before]
    return now if not empty(now) or empty(before) else before


def _without_known_twins(value: Any, delta: Mapping[str, Any]) -> Any:
    """Gateways repeat what they send in a field of their own; once is enough."""
    if not isinstance(value, Mapping):
        return value
    return {
        name: one
        for name, one in value.items()
        if name not in (*_TEXT_FIELDS, *_BLOCK_FIELDS) or one != delta.get(name)
    }
