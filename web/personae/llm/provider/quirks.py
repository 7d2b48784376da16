"""What single providers refuse, learnt from their errors and remembered.

The table ``QUIRKS`` has a row for each: how a refusal tells of it, and what is sent instead. A
row's name is a short stable text; ``learn`` finds the row that a refusal tells of, ``adapt``
applies what is known to a request body. What depends on the server is kept for the base URL, what
depends on the model for base URL and model. The memory is a plain mapping of texts to lists of
texts, so that its owner can store it; what is set to an empty list may be forgotten.
Invariants: a quirk never changes what the model is asked, only how; what the model then cannot do
or see is in ``Quirk.loss``, for the user.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Literal

from personae.errors import ModelError
from personae.llm.provider import refusal_words as words_for
from personae.llm.provider import rewrites
from personae.llm.provider.refusal_words import names
from personae.llm.request.encoded import Message, Part, Stretch, spread
from personae.llm.request.tool_schemas import plain_schema

Memory = MutableMapping[str, list[str]]
Body = dict[str, Any]


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


@dataclass(frozen=True, slots=True)
class Quirk:
    name: str
    of: Literal["server", "model"]
    told: Callable[[Refusal], bool]
    """Whether the refusal tells of it, and the request can be sent the other way."""
    change: Callable[[Body], Body] = lambda body: body
    either: bool = False
    """A refusal may also tell that it is no longer so."""
    loss: str = ""
    """What the character then has to do without."""


def _spread(rewrite: Callable[[list[Message]], list[Message]]) -> Callable[[Body], Body]:
    """A change of the messages."""
    return lambda body: {**body, "messages": rewrite([*spread(body["messages"])])}


def _says(pattern: re.Pattern[str]) -> Callable[[Refusal], bool]:
    return lambda refusal: bool(pattern.search(refusal.words))


def _schemas(refusal: Refusal) -> bool:
    return "tools" in refusal.body and bool(words_for.SCHEMA.search(refusal.words))


def _plain_schemas(body: Body) -> Body:
    tools = [
        {**tool, "function": {**function, "parameters": plain_schema(function["parameters"])}}
        for tool in body.get("tools", ())
        if (function := tool["function"])
    ]
    return {**body, "tools": tools} if tools else body


def _streams(refusal: Refusal) -> bool:
    refused = refusal.refuses("stream") or bool(words_for.WHOLE_ONLY.search(refusal.words))
    return bool(refusal.body.get("stream")) and refused


def _whole(body: Body) -> Body:
    rest = {name: value for name, value in body.items() if name != "stream_options"}
    return {**rest, "stream": False}


def _roles(refusal: Refusal) -> list[str]:
    return [message["role"] for message in refusal.messages]


def _system_elsewhere(refusal: Refusal) -> bool:
    roles = _roles(refusal)
    return "system" in roles[1:] and bool(words_for.SYSTEM_PLACE.search(refusal.words))


def _no_system(refusal: Refusal) -> bool:
    if "system" not in _roles(refusal):
        return False
    # Who still wants another order once roles alternate counts the system among them.
    order = MERGED_ROLES in refusal.held and bool(words_for.ROLES.search(refusal.words))
    return order or bool(words_for.NO_SYSTEM.search(refusal.words))


def _ends_with_reply(refusal: Refusal) -> bool:
    roles = _roles(refusal)
    return roles[-1:] == ["assistant"] and bool(words_for.USER_LAST.search(refusal.words))


def _pictures(refusal: Refusal) -> bool:
    refused = bool(words_for.NO_PICTURES.search(refusal.words))
    return refused and any(map(rewrites.has_pictures, refusal.messages))


def _tools(refusal: Refusal) -> bool:
    if "tools" not in refusal.body:
        return False
    return refusal.refuses("tools") or words_for.refuses_tools(refusal.words)


def _without_tools(body: Body) -> Body:
    rest = {name: value for name, value in body.items() if name not in ("tools", "tool_choice")}
    if any(message.get("tool_calls") for message in _loose(body)):
        return _spread(rewrites.rounds_as_text)(rest)
    return rest


def _limit(refusal: Refusal) -> bool:
    """The limit's name is refused, not its value."""
    other = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
    sent = next((name for name in other if name in refusal.body), None)
    if sent is None or not refusal.plain:
        return False
    # Once it was called the other way, to refuse that, too, means neither is wanted.
    named = names(refusal.words, sent) or names(refusal.words, other[sent])
    unwanted = bool(words_for.NAMED.search(refusal.words))
    return named and (unwanted or names(refusal.words, other[sent]))


def _renamed_limit(body: Body) -> Body:
    renamed = {**body}
    if "max_tokens" in renamed:
        renamed["max_completion_tokens"] = renamed.pop("max_tokens")
    return renamed


def _no_limit(refusal: Refusal) -> bool:
    sent = ("max_tokens", "max_completion_tokens")
    return any(name in refusal.body and refusal.refuses(name) for name in sent)


def _without_limit(body: Body) -> Body:
    limits = ("max_tokens", "max_completion_tokens")
    return {name: value for name, value in body.items() if name not in limits}


def _parameter(name: str, of: Literal["server", "model"]) -> Quirk:
    return Quirk(
        f"drop:{name}",
        of,
        lambda refusal: name in refusal.body and refusal.refuses(name),
        lambda body: {key: value for key, value in body.items() if key != name},
    )


def _field(name: str) -> Quirk:
    """A field of messages, of tool calls or of their functions."""

    def told(refusal: Refusal) -> bool:
        named = name == "isFile" and refusal.plain and names(refusal.words, name)
        return (named or refusal.refuses(name)) and name in _fields(refusal.messages)

    def change(body: Body) -> Body:
        return {**body, "messages": [_cleared(part, name) for part in body["messages"]]}

    return Quirk(f"drop:{name}", "server", told, change)


def _lacks_reasoning(refusal: Refusal) -> bool:
    name = "reasoning_content"
    return refusal.plain and names(refusal.words, name) and name not in _fields(refusal.messages)


def _with_reasoning(body: Body) -> Body:
    def added(part: Part) -> Part:
        if isinstance(part, Stretch) or not part.get("tool_calls"):
            return part
        return {**part, "reasoning_content": part.get("reasoning_content", "")}

    return {**body, "messages": [added(part) for part in body["messages"]]}


def _content(refusal: Refusal) -> bool:
    about = refusal.plain and bool(words_for.CONTENT.search(refusal.words))
    return about and any(map(_only_calls, refusal.messages))


def _empty_content(body: Body) -> Body:
    def filled(part: Part) -> Part:
        if isinstance(part, Stretch) or not _only_calls(part):
            return part
        return {**part, "content": ""}

    return {**body, "messages": [filled(part) for part in body["messages"]]}


EMPTY_CONTENT = "content:empty"
MERGED_ROLES = "roles:merged"
NO_TOOLS = "tools:none"

QUIRKS = (
    Quirk("schemas:plain", "model", _schemas, _plain_schemas),
    Quirk("stream:never", "model", _streams, _whole),
    Quirk(
        "stream:always",
        "model",
        lambda refusal: (
            not refusal.body.get("stream") and bool(words_for.STREAM_ONLY.search(refusal.words))
        ),
        lambda body: {**body, "stream": True},
    ),
    Quirk("system:front", "model", _system_elsewhere, _spread(rewrites.system_in_front)),
    Quirk("system:user", "model", _no_system, _spread(rewrites.system_as_user)),
    Quirk("user:last", "model", _ends_with_reply, _spread(rewrites.user_last)),
    Quirk(MERGED_ROLES, "model", _says(words_for.ROLES), _spread(rewrites.joined_roles)),
    Quirk(
        "pictures:none",
        "model",
        _pictures,
        _spread(rewrites.without_pictures),
        loss="The model takes no pictures, so it was told of them in words only.",
    ),
    Quirk(
        NO_TOOLS,
        "model",
        _tools,
        _without_tools,
        loss="The model was asked without tools, because its server refused them, so the "
        "character's agents are not called.",
    ),
    Quirk("rename:max_tokens", "model", _limit, _renamed_limit, either=True),
    Quirk("drop:max_tokens", "model", _no_limit, _without_limit),
    _parameter("stream_options", "server"),
    _parameter("top_p", "model"),
    _parameter("temperature", "model"),
    _parameter("tool_choice", "model"),
    _field("isFile"),
    _field("reasoning_content"),
    _field("reasoning_details"),
    _field("reasoning"),
    Quirk("add:reasoning_content", "model", _lacks_reasoning, _with_reasoning),
    Quirk(EMPTY_CONTENT, "server", _content, _empty_content, either=True),
)
_ROWS = {quirk.name: quirk for quirk in QUIRKS}
_OTHER_FIELD = re.compile(r"drop:([A-Za-z_][A-Za-z0-9_-]{0,63})")
_USUAL = frozenset(
    (
        *("role", "content", "tool_calls", "tool_call_id", "name"),
        *("id", "type", "function", "arguments", "model", "messages", "tools", "stream"),
    )
)
"""Fields without which a message says nothing."""
_FINAL = (401, 402, 429)
"""Statuses that speak of the account."""
_PLAIN = (None, 400, 422, 500)


def find(name: str) -> Quirk | None:
    """A row of the table, or one for a field that a provider once sent; None: not known."""
    row = _ROWS.get(name)
    field = _OTHER_FIELD.fullmatch(name)
    if row is None and field is not None and field[1] not in _USUAL:
        return _field(field[1])
    return row


def recall(memory: Memory, base_url: str, model: str) -> frozenset[str]:
    return frozenset([*memory.get(base_url, ()), *memory.get(_model_key(base_url, model), ())])


def remember(memory: Memory, base_url: str, model: str, quirks: frozenset[str]) -> None:
    of_server = {name for name in quirks if (row := find(name)) and row.of == "server"}
    for key, kept in (
        (base_url, of_server),
        (_model_key(base_url, model), set(quirks) - of_server),
    ):
        if kept or key in memory:
            memory[key] = sorted(kept)


def forget(memory: Memory, base_url: str, model: str) -> None:
    """What is known is to be learnt again: the server may have been set up in another way."""
    remember(memory, base_url, model, frozenset())


def learn(
    error: ModelError,
    body: Mapping[str, Any],
    held: frozenset[str] = frozenset(),
    tried: Iterable[str] = (),
) -> str | None:
    """The quirk a refusal tells of, given the body that was refused; toggling it may help.

    ``held``: those it was sent with. ``tried``: those that were toggled before.
    """
    status = error.detail.get("status")
    provider = error.detail.get("provider", {})
    if status in _FINAL or error.code == "model_bad_call" or not provider:
        return None
    words = " ".join(str(word) for word in provider.values())
    refusal = Refusal(words, body, held, status in _PLAIN)
    for row in (*QUIRKS, *map(_field, sorted(_fields(refusal.messages)))):
        open_ = row.name not in tried and (row.either or row.name not in held)
        if open_ and row.told(refusal):
            return row.name
    return None


def adapt(body: Mapping[str, Any], quirks: frozenset[str]) -> Body:
    """A copy of ``body`` that the provider with these quirks accepts."""
    adapted = {**body, "messages": [_as_usual(part) for part in body["messages"]]}
    known = [row for row in QUIRKS if row.name in quirks]
    for row in (*known, *filter(None, map(find, sorted(quirks - _ROWS.keys())))):
        adapted = row.change(adapted)
    return adapted


def losses(quirks: Iterable[str], body: Mapping[str, Any]) -> dict[str, str]:
    """Of quirks that ``body`` suffers from: what the character does without."""
    with_pictures = any(map(rewrites.has_pictures, _loose(body)))
    concerned = {NO_TOOLS: "tools" in body, "pictures:none": with_pictures}
    return {name: _ROWS[name].loss for name in quirks if concerned.get(name)}


def _as_usual(part: Part) -> Part:
    if isinstance(part, Stretch) or not _only_calls(part):
        return part
    return {**part, "content": None}


def _loose(body: Mapping[str, Any]) -> list[Message]:
    """The messages that may hold more than text."""
    return [part for part in body["messages"] if not isinstance(part, Stretch)]


def _cleared(part: Part, name: str) -> Part:
    if isinstance(part, Stretch):
        return part
    cleared = {key: value for key, value in part.items() if key != name}
    if cleared.get("tool_calls"):
        cleared["tool_calls"] = [_cleared_call(call, name) for call in cleared["tool_calls"]]
    return cleared


def _cleared_call(call: Mapping[str, Any], name: str) -> dict[str, Any]:
    function = {key: value for key, value in call["function"].items() if key != name}
    return {key: value for key, value in call.items() if key != name} | {"function": function}


def _fields(messages: Iterable[Message]) -> set[str]:
    """The fields of messages and calls that not every provider knows."""
    found: set[str] = set()
    for message in messages:
        found |= message.keys()
        for call in message.get("tool_calls") or ():
            found |= call.keys() | call["function"].keys()
    return found - _USUAL


def _only_calls(message: Mapping[str, Any]) -> bool:
    return bool(message.get("tool_calls")) and not message.get("content")


def _model_key(base_url: str, model: str) -> str:
    return f"{base_url} {model}"
