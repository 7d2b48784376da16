"""Collects the reasoning fields that providers send beside the text.

Variants: ``reasoning_content`` or ``reasoning`` (text), ``reasoning_details`` (a list of typed
blocks), often several with the same words. Each is kept under its own name, since providers
refuse a tool round whose assistant message lacks the reasoning they sent; the reader sees the
words once. Invariant: linear in the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personae.unicode import well_formed, well_formed_json

_TEXT_FIELDS = ("reasoning_content", "reasoning")
_DETAILS = "reasoning_details"
_BLOCK_TEXTS = ("text", "summary")
_MERGED_TYPES = ("reasoning.text", "reasoning.summary")


def sent_back(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What of an entry's stored reasoning goes into a request: these fields and no other, for a
    conversation may be somebody's file, and a message's other fields are ours to say."""
    fields = {name: stored[name] for name in _TEXT_FIELDS if isinstance(stored.get(name), str)}
    details = stored.get(_DETAILS)
    return fields | ({_DETAILS: details} if isinstance(details, list) else {})


class _Block:
    """One typed block: texts arrive in pieces, everything else is assigned."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        self._facts: dict[str, Any] = {}
        self._texts: dict[str, list[str]] = {}
        self.add(first)

    def continues_with(self, block: Mapping[str, Any]) -> bool:
        same = all(self._facts.get(name) == block.get(name) for name in ("type", "index"))
        return same and block.get("type") in _MERGED_TYPES

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


class ReasoningFields:
    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._blocks: list[_Block] = []

    def feed(self, delta: Mapping[str, Any]) -> str:
        """Takes one delta; the words to show, once."""
        words = [self._text(name, delta.get(name)) for name in _TEXT_FIELDS]
        details = delta.get(_DETAILS)
        words.append(self._details(details) if isinstance(details, list) else "")
        return next((text for text in words if text), "")

    def fields(self) -> dict[str, Any]:
        """What to send back, under the names it came with."""
        fields: dict[str, Any] = {
            name: well_formed("".join(pieces)) for name, pieces in self._texts.items()
        }
        if self._blocks:
            fields[_DETAILS] = [block.value() for block in self._blocks]
        return fields

    def _text(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            return ""
        self._texts.setdefault(name, []).append(value)
        return value

    def _details(self, details: list[Any]) -> str:
        blocks = [block for block in details if isinstance(block, Mapping)]
        for block in blocks:
            if self._blocks and self._blocks[-1].continues_with(block):
                self._blocks[-1].add(block)
            else:
                self._blocks.append(_Block(block))
        shown = [block.get(name) for block in blocks for name in _BLOCK_TEXTS]
        return "".join(text for text in shown if isinstance(text, str))
