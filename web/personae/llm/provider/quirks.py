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
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, Literal

from personae.errors import ModelError
from personae.llm.provider import body_changes as changes
from personae.llm.provider import refusal_words as words_for
from personae.llm.provider import refused, rewrites
from personae.llm.provider.body_changes import Body
from personae.llm.provider.refusal_words import names
from personae.llm.provider.refused import MERGED_ROLES, Refusal
from personae.llm.request.encoded import Part, Stretch

Memory = MutableMapping[str, list[str]]


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
        return (named or refusal.refuses(name)) and name in refused.uncommon_fields(
            refusal.messages
        )

    def change(body: Body) -> Body:
        return {**body, "messages": [changes.cleared(part, name) for part in body["messages"]]}

    return Quirk(f"drop:{name}", "server", told, change)


EMPTY_CONTENT = "content:empty"
NO_TOOLS = "tools:none"

QUIRKS = (
    Quirk("schemas:plain", "model", refused.schemas, changes.plain_schemas),
    Quirk("stream:never", "model", refused.streaming, changes.whole),
    Quirk(
        "stream:always",
        "model",
        lambda refusal: (
            not refusal.body.get("stream") and bool(words_for.STREAM_ONLY.search(refusal.words))
        ),
        lambda body: {**body, "stream": True},
    ),
    Quirk(
        "system:front",
        "model",
        refused.system_elsewhere,
        changes.in_messages(rewrites.system_in_front),
    ),
    Quirk("system:user", "model", refused.system, changes.in_messages(rewrites.system_as_user)),
    Quirk("user:last", "model", refused.reply_at_the_end, changes.in_messages(rewrites.user_last)),
    Quirk(
        MERGED_ROLES,
        "model",
        refused.says(words_for.ROLES),
        changes.in_messages(rewrites.joined_roles),
    ),
    Quirk(
        "calls:single",
        "model",
        refused.several_calls,
        changes.in_messages(rewrites.single_calls),
    ),
    Quirk(
        "thoughts:once",
        "model",
        refused.says(words_for.THOUGHT_TWICE),
        changes.in_messages(rewrites.thought_once),
    ),
    Quirk(
        "pictures:none",
        "model",
        refused.pictures,
        changes.in_messages(rewrites.without_pictures),
        loss="The model takes no pictures, so it was told of them in words only.",
    ),
    Quirk(
        NO_TOOLS,
        "model",
        refused.tools,
        changes.without_tools,
        loss="The model was asked without tools, because its server refused them, so the "
        "character's agents are not called.",
    ),
    Quirk("rename:max_tokens", "model", refused.limit_name, changes.renamed_limit, either=True),
    Quirk("drop:max_tokens", "model", refused.limit, changes.without_limit),
    _parameter("stream_options", "server"),
    _parameter("top_p", "model"),
    _parameter("temperature", "model"),
    _parameter("tool_choice", "model"),
    _field("isFile"),
    _field("reasoning_content"),
    _field("reasoning_details"),
    _field("reasoning"),
    Quirk("add:reasoning_content", "model", refused.lack_of_reasoning, changes.with_reasoning),
    Quirk(EMPTY_CONTENT, "server", refused.content, changes.empty_content, either=True),
)
_ROWS = {quirk.name: quirk for quirk in QUIRKS}
_OTHER_FIELD = re.compile(r"drop:([A-Za-z_][A-Za-z0-9_-]{0,63})")
_FINAL = (401, 402, 429)
"""Statuses that speak of the account."""
_PLAIN = (None, 400, 422, 500)


def find(name: str) -> Quirk | None:
    """A row of the table, or one for a field that a provider once sent; None: not known."""
    row = _ROWS.get(name)
    field = _OTHER_FIELD.fullmatch(name)
    if row is None and field is not None and field[1] not in refused.USUAL_FIELDS:
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
    for row in (*QUIRKS, *map(_field, sorted(refused.uncommon_fields(refusal.messages)))):
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
    with_pictures = any(map(rewrites.has_pictures, changes.loose(body)))
    concerned = {NO_TOOLS: "tools" in body, "pictures:none": with_pictures}
    return {name: _ROWS[name].loss for name in quirks if concerned.get(name)}


def _as_usual(part: Part) -> Part:
    if isinstance(part, Stretch) or not rewrites.only_calls(part):
        return part
    return {**part, "content": None}


def _model_key(base_url: str, model: str) -> str:
    return f"{base_url} {model}"
