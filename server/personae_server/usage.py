"""How many tokens a relayed request has used: what the model service says, else an estimate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from personae_server.sse import data_of

CHARACTERS_PER_TOKEN = 4


class Meter:
    """Counts one request. ``tokens`` may be asked at any moment, also after a break."""

    def __init__(self, prompt: bytes) -> None:
        self._prompt = len(prompt)
        self._answer = 0
        self._usage: Mapping[str, Any] | None = None
        self.refused = False
        """The model service did no work: nothing is counted."""

    def event(self, event: bytes) -> bool:
        """Takes a streamed event in; says whether it is there only to tell the usage."""
        try:
            chunk = json.loads(data_of(event) or b"null")
        except (ValueError, RecursionError):
            return False
        if not isinstance(chunk, dict):
            return False
        self.reply(chunk)
        return bool(chunk.get("usage")) and not chunk.get("choices")

    def reply(self, body: Mapping[str, Any]) -> None:
        """Takes a streamed chunk or a whole reply in."""
        if isinstance(body.get("usage"), dict):
            self._usage = body["usage"]
        self._answer += len(json.dumps(_said(body)))

    @property
    def tokens(self) -> dict[str, int]:
        """``{"prompt": int, "completion": int}``."""
        if self.refused:
            return {"prompt": 0, "completion": 0}
        usage = self._usage or {}
        return {
            "prompt": _count(usage.get("prompt_tokens"), self._prompt),
            "completion": _count(usage.get("completion_tokens"), self._answer),
        }


def _count(told: object, characters: int) -> int:
    if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
        return told
    return characters // CHARACTERS_PER_TOKEN


def _said(body: Mapping[str, Any]) -> list[Any]:
    """What the model wrote in ``body``: text, reasoning, tool calls."""
    choices = body.get("choices")
    found = [c.get("delta") or c.get("message") for c in choices or [] if isinstance(c, dict)]
    return [part for part in found if part]
