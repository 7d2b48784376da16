"""The rehearsal model: a deterministic stand-in that needs no key and is no AI.

It answers at the ``rehearsal:`` base URL like a provider does, in the same bytes, so that
everything behind the transport works on it as on a real model. It reports what it was given,
and calls a tool when the user's message asks: ``call roll_dice {"sides": 20}``, one call for
each mention. Invariant: the same request gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from personae.bounded_json import is_deep
from personae.conversation.entries import ToolCall
from personae.llm.request.token_estimate import estimate_prompt, estimate_tokens
from personae.llm.stream.reply import call_dict
from personae.ports import Clock, HttpRequest, HttpResponse, ModelTransport
from personae.unicode import well_formed

BASE_URL = "rehearsal:"
MODEL = "rehearsal"
LABEL = "Rehearsal model (no AI)"

_PACE = 12.0
"""Milliseconds between two words."""
_CALL = re.compile(r"\bcall\s+([A-Za-z0-9_.-]+)[ \t]*")
_QUOTED = 400
"""Code points of a text it repeats."""


class RehearsalTransport:
    """ports.ModelTransport for ``rehearsal:`` URLs."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def open(self, request: HttpRequest) -> HttpResponse:
        path = request.url.removeprefix(BASE_URL)
        if request.method == "GET" and path == "/models":
            return _Response(self._clock, request.url, [_json({"data": [{"id": MODEL}]})])
        if request.method == "POST" and path == "/chat/completions":
            return self._answer(request)
        missing = {"error": {"message": f"The rehearsal model has no {path}.", "code": 404}}
        return _Response(self._clock, request.url, [_json(missing)], status=404)

    def _answer(self, request: HttpRequest) -> HttpResponse:
        body = json.loads(request.body or "{}")
        calls = _calls_to_make(body)
        text = "" if calls else _report(body)
        if body.get("stream"):
            return _Response(self._clock, request.url, list(_events(body, text, calls)))
        return _Response(self._clock, request.url, [_json(_whole(body, text, calls))])


class Routed:
    """Sends ``rehearsal:`` requests to the rehearsal model and all others to the network."""

    def __init__(self, rehearsal: ModelTransport, network: ModelTransport) -> None:
        self._rehearsal = rehearsal
        self._network = network

    async def open(self, request: HttpRequest) -> HttpResponse:
        rehearsed = request.url.startswith(BASE_URL)
        return await (self._rehearsal if rehearsed else self._network).open(request)


class _Response:
    """ports.HttpResponse that sends its pieces at the pace of a model."""

    def __init__(self, clock: Clock, url: str, pieces: list[bytes], status: int = 200) -> None:
        self.status = status
        self.url = url
        self.headers: Mapping[str, str] = {}
        self._clock = clock
        self._pieces = pieces
        self._closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            if self._closed:
                return
            yield piece
            await self._clock.sleep(_PACE)

    async def close(self) -> None:
        self._closed = True


def _calls_to_make(body: Mapping[str, Any]) -> list[ToolCall]:
    last = body["messages"][-1] if body["messages"] else {}
    if last.get("role") != "user" or last.get("isFile") or body.get("tool_choice") == "none":
        return []
    asked = _asked(str(last.get("content")), set(_tool_names(body)))
    return [ToolCall(f"play{n:05d}", *call) for n, call in enumerate(asked, _round(body))]


def _asked(text: str, offered: set[str]) -> Iterator[tuple[str, str]]:
    """Name and arguments of each call: of an offered tool, or of any when arguments follow."""
    for match in _CALL.finditer(text):
        rest = text[match.end() :]
        if rest.startswith("{"):
            yield match[1], _object_at_start(rest)
        elif match[1].rstrip(".") in offered:
            yield match[1].rstrip("."), "{}"


def _object_at_start(text: str) -> str:
    """The JSON object ``text`` begins with; the rest of the line when it is broken."""
    line = text.partition("\n")[0]
    try:
        return line if is_deep(text) else text[: json.JSONDecoder().raw_decode(text)[1]]
    except ValueError:
        return line


def _round(body: Mapping[str, Any]) -> int:
    """The number of the next call id: one more than the calls already in the request."""
    return 1 + sum(len(message.get("tool_calls") or ()) for message in body["messages"])


def _report(body: Mapping[str, Any]) -> str:
    messages = body["messages"]
    answers = _last_answers(messages)
    said = [_answered(messages, answer) for answer in answers] if answers else [_heard(messages)]
    return "\n\n".join([f"**{LABEL}.**", *said, _given(body)])


def _last_answers(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    answers: list[dict[str, Any]] = []
    for message in reversed(messages):
        if message.get("role") != "tool":
            break
        answers.insert(0, message)
    return answers


def _answered(messages: list[dict[str, Any]], answer: Mapping[str, Any]) -> str:
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    id_ = answer.get("tool_call_id")
    name = next((call["function"]["name"] for call in calls if call["id"] == id_), "a tool")
    return f"`{name}` answered: {_quoted(answer.get('content'))}"


def _heard(messages: list[dict[str, Any]]) -> str:
    spoken = [m for m in messages if m.get("role") == "user" and not m.get("isFile")]
    return f"You said: {_quoted(spoken[-1].get('content'))}" if spoken else "You said nothing yet."


def _given(body: Mapping[str, Any]) -> str:
    """A summary of what the request held."""
    messages = body["messages"]
    system = sum(len(str(m.get("content"))) for m in messages if m.get("role") == "system")
    files = [str(m.get("content")) for m in messages if m.get("isFile")]
    lines = [
        f"- {len(messages)} messages, about {estimate_prompt(body)} tokens",
        f"- system prompt: {system} characters",
        *(f"- context: {len(text)} characters, {_quoted(text, 60)}" for text in files),
        f"- tools: {', '.join(_tool_names(body)) or 'none'}",
    ]
    return "I was given:\n\n" + "\n".join(lines)


def _tool_names(body: Mapping[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in body.get("tools") or ()]


def _quoted(content: Any, size: int = _QUOTED) -> str:
    text = str(content or "")
    return "\u201c" + text[:size] + ("\u2026" if len(text) > size else "") + "\u201d"


def _events(body: Mapping[str, Any], text: str, calls: list[ToolCall]) -> Iterator[bytes]:
    yield _event({"delta": {"role": "assistant", "content": ""}})
    for word in re.findall(r"\s*\S+|\s+$", text):
        yield _event({"delta": {"content": word}})
    for index, call in enumerate(calls):
        head = call_dict(call) | {"index": index, "function": {"name": call.name, "arguments": ""}}
        yield _event({"delta": {"tool_calls": [head]}})
        for at in range(0, len(call.arguments), 8):
            piece = {"index": index, "function": {"arguments": call.arguments[at : at + 8]}}
            yield _event({"delta": {"tool_calls": [piece]}})
    yield _event({"delta": {}, "finish_reason": "tool_calls" if calls else "stop"})
    yield _event(None, usage=_usage(body, text, calls))
    yield b"data: [DONE]\n\n"


def _event(choice: Mapping[str, Any] | None, **more: Any) -> bytes:
    choices = [] if choice is None else [{"index": 0, "finish_reason": None, **choice}]
    chunk = {"object": "chat.completion.chunk", "model": MODEL, "choices": choices, **more}
    return b"data: " + _json(chunk) + b"\n\n"


def _whole(body: Mapping[str, Any], text: str, calls: list[ToolCall]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [call_dict(call) for call in calls]
    reason = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = _usage(body, text, calls)
    return {"object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}


def _usage(body: Mapping[str, Any], text: str, calls: list[ToolCall]) -> dict[str, int]:
    prompt = estimate_prompt(body)
    completion = estimate_tokens(text + "".join(call.arguments for call in calls))
    total = prompt + completion
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total}


def _json(value: Any) -> bytes:
    return well_formed(json.dumps(value, ensure_ascii=False)).encode()
