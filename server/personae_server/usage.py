"""How many tokens a relayed request has used: what the model service says, else an estimate.

The rules, by how a request ends:

- refused by the model service, or never at it: nothing;
- a whole answer: what the service reports; without a report, an estimate of the prompt and of
  all that was written;
- broken off, whoever did it: the larger of what was reported so far and the estimate. Time
  in which the model said nothing counts as written text (a whole answer comes at once, reasoning
  may not come at all), but never for more than the request allowed the answer to be.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

CHARACTERS_PER_TOKEN = 4
TOKENS_PER_SECOND = 100
"""What a model is taken to write while nothing of it is to be seen."""
_PICTURE_TOKENS = 1500
_SOUND_CHARACTERS_PER_TOKEN = 2000
"""Of compressed speech in Base64."""


class Meter:
    """Counts one request, from the moment it is sent. ``tokens`` may be asked at any moment."""

    def __init__(
        self, prompt: int, asked: int | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``prompt``: tokens by estimate; ``asked``: the most that the request lets it answer."""
        self._prompt = prompt
        self._asked = asked
        self._clock = clock
        self._sent_at: float | None = None
        self._seen_at: float | None = None
        self._answer = 0
        self._usage: Mapping[str, Any] = {}
        self._complete = False

    def sent(self) -> None:
        """The model service has the whole request."""
        self._sent_at = self._clock()

    def refused(self) -> None:
        """The model service did no work."""
        self._sent_at = None

    def received(self, characters: int) -> None:
        """So much of the answer has come."""
        self._answer += characters
        if characters and self._seen_at is None:
            self._seen_at = self._clock()

    def chunk(self, chunk: Mapping[str, Any]) -> bool:
        """Takes a streamed chunk in; says whether it is there only to tell the usage."""
        self._report(chunk)
        self.received(_written_in(chunk))
        return bool(chunk.get("usage")) and not chunk.get("choices")

    def reply(self, reply: Mapping[str, Any]) -> None:
        """Takes a whole reply in, in place of what ``received`` was told of it."""
        self._report(reply)
        self._answer = _written_in(reply)
        self._complete = True

    def completed(self) -> None:
        """The stream came to its end."""
        self._complete = True

    @property
    def tokens(self) -> dict[str, int]:
        """``{"prompt": int, "completion": int}``."""
        if self._sent_at is None:
            return {"prompt": 0, "completion": 0}
        estimate = {
            "prompt": self._prompt,
            "completion": self._answer // CHARACTERS_PER_TOKEN,
        }
        told = {kind: _count(self._usage.get(f"{kind}_tokens")) for kind in estimate}
        if not any(told.values()):  # no request is read without a token
            told = dict.fromkeys(estimate)
        if self._complete:
            return {kind: estimate[kind] if n is None else n for kind, n in told.items()}
        estimate["completion"] += self._unseen(self._sent_at)
        return {kind: max(estimate[kind], n or 0) for kind, n in told.items()}

    def _unseen(self, sent_at: float) -> int:
        """What may have been written while nothing came."""
        seen_at = self._clock() if self._seen_at is None else self._seen_at
        possible = int((seen_at - sent_at) * TOKENS_PER_SECOND)
        return possible if self._asked is None else max(0, min(possible, self._asked))

    def _report(self, body: Mapping[str, Any]) -> None:
        if isinstance(usage := body.get("usage"), dict):
            self._usage = usage


def prompt_tokens(body: Mapping[str, Any], content: bytes) -> int:
    """An estimate. ``content``: ``body`` as it is sent."""
    media = [part for part in _parts(body) if part.get("type") in ("image_url", "input_audio")]
    lengths = [len(json.dumps(part)) for part in media]
    tokens = (len(content) - sum(lengths)) // CHARACTERS_PER_TOKEN
    for part, length in zip(media, lengths, strict=True):
        sound = part["type"] == "input_audio"
        tokens += length // _SOUND_CHARACTERS_PER_TOKEN if sound else _PICTURE_TOKENS
    return tokens


def _parts(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in _dicts(body.get("messages")):
        yield from _dicts(message.get("content"))


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _count(told: object) -> int | None:
    if isinstance(told, int) and not isinstance(told, bool) and told >= 0:
        return told
    return None


def _written_in(body: Mapping[str, Any]) -> int:
    """How many characters the model wrote in ``body``: text, reasoning, tool calls."""
    parts = [c.get("delta") or c.get("message") for c in _dicts(body.get("choices"))]
    said = (value for part in parts if isinstance(part, dict) for value in _said(part))
    return sum(len(value) if isinstance(value, str) else len(json.dumps(value)) for value in said)


def _said(part: Mapping[str, Any]) -> list[Any]:
    return [value for name, value in part.items() if name != "role" and value]
