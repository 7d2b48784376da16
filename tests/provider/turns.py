"""What a scripted provider sends: turns, and the helpers that build them.

A turn is a response: status, headers and steps. A step is bytes to send, a ``Pause``, a
``Stall`` (nothing more until the client leaves or the provider is released) or a ``Reset`` (the
connection breaks without a proper end).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Stall:
    pass


@dataclass(frozen=True)
class Reset:
    pass


Step = bytes | Pause | Stall | Reset


@dataclass(frozen=True)
class Turn:
    steps: Sequence[Step] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def then(self, *steps: Step) -> Turn:
        """The same turn with more steps at its end."""
        return replace(self, steps=[*self.steps, *steps])

    def without_end(self, *steps: Step) -> Turn:
        """The same stream without its finish and ``[DONE]``, with ``steps`` in their place."""
        kept = [step for step in self.steps if step not in (_FINISH_STOP, _FINISH_TOOLS, DONE)]
        return replace(self, steps=[*kept, *steps])

    def paced(self, seconds: float) -> Turn:
        """The same turn with a pause before each step."""
        return replace(self, steps=[part for step in self.steps for part in (Pause(seconds), step)])


def chunk(delta: Mapping[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chat-completion chunk as an event."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return event({"object": "chat.completion.chunk", "choices": [choice], **more})


def event(data: Any) -> bytes:
    """One event; text as it is, anything else as JSON."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"data: {text}\n\n".encode()


DONE = event("[DONE]")
KEEP_ALIVE = b": keep-alive\n\n"
_FINISH_STOP = chunk(finish="stop")
_FINISH_TOOLS = chunk(finish="tool_calls")


def stream(*steps: Step, **headers: str) -> Turn:
    """An event stream of exactly these steps."""
    return Turn(steps, headers={"content-type": "text/event-stream", **headers})


def says(text: str, *, reasoning: str = "", usage: Mapping[str, int] | None = None) -> Turn:
    """Streams ``text`` word by word, after ``reasoning`` if any."""
    steps = [chunk({"role": "assistant", "content": ""})]
    steps += [chunk({"reasoning_content": word}) for word in _words(reasoning)]
    steps += [chunk({"content": word}) for word in _words(text)]
    steps.append(_FINISH_STOP)
    if usage:
        steps.append(event({"choices": [], "usage": dict(usage)}))
    return stream(*steps, DONE)


def calls(
    *wanted: tuple[str, Any], text: str = "", reasoning: str = "", ids: Iterable[str] = ()
) -> Turn:
    """Streams tool calls: (name, arguments), arguments as a dict or as raw text."""
    steps = [chunk({"reasoning_content": word}) for word in _words(reasoning)]
    steps += [chunk({"content": word}) for word in _words(text)]
    given = list(ids)
    for index, (name, arguments) in enumerate(wanted):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        id_ = given[index] if index < len(given) else f"call_{name}_{index}"
        steps += _call_steps(index, id_, name, raw)
    return stream(*steps, _FINISH_TOOLS, DONE)


def reply_json(text: str, status: int = 200) -> Turn:
    """A whole JSON reply, not streamed."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return json_body({"object": "chat.completion", "choices": [choice]}, status)


def error(
    status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> Turn:
    """An HTTP error with a provider's JSON error object; ``more``: code, type, param."""
    turn = json_body({"error": {"message": message, **more}}, status)
    return replace(turn, headers={**turn.headers, **(headers or {})})


def json_body(value: Any, status: int = 200) -> Turn:
    return Turn([json.dumps(value).encode()], status, {"content-type": "application/json"})


def page(title: str, status: int = 200) -> Turn:
    """A web page where JSON was due."""
    text = f"<!doctype html><html><head><title>{title}</title></head><body>Hello</body></html>"
    return Turn([text.encode()], status, {"content-type": "text/html"})


def file(data: bytes, media_type: str = "application/zip") -> Turn:
    return Turn([data], headers={"content-type": media_type})


def _call_steps(index: int, id_: str, name: str, raw: str) -> list[bytes]:
    function = {"name": name, "arguments": ""}
    head = {"index": index, "id": id_, "type": "function", "function": function}
    pieces = [raw[at : at + 12] for at in range(0, len(raw), 12)]
    return [
        chunk({"tool_calls": [head]}),
        *(
            chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in pieces
        ),
    ]


def _words(text: str) -> list[str]:
    return [word + " " for word in text.split(" ")[:-1]] + [text.split(" ")[-1]] if text else []
