"""Rows in the page: an intro, a message with its chips and reasoning, an audit entry."""

from __future__ import annotations

import json
from typing import Any

from personae.bounded_json import load_json
from personae.conversation.entries import Entry, ToolCall
from personae.ui import formats
from personae.ui.dom.elements import clone, fill, mark, part, show
from personae.ui.dom.markdown import Prose
from personae.ui.dom.monogram import paint_monogram
from personae.ui.transcript import replies
from personae.ui.transcript.rows import Row
from personae.unicode import plain, plain_line


class DrawnIntro:
    """The character's name, description and intro."""

    def __init__(self, name: str, description: str, intro: str) -> None:
        self.element = clone("intro")
        fill(self.element, name=name, description=formats.one_line(description, 240))
        paint_monogram(part(self.element, "monogram"), name)
        self._prose = Prose(part(self.element, "body"))
        self._prose.show(intro, complete=True)

    def update(self, row: Row, *, streaming: bool, last: bool) -> None:
        """Nothing in an intro changes."""

    def close(self) -> None:
        self._prose.close()


class DrawnLog:
    """An entry that nobody said. Its text is never ours alone: a conversation may be a file that
    somebody made, so what no agent has written stands under a line that says only where it is."""

    def __init__(self, row: Row, character: str) -> None:
        self.element = clone("log")
        self._character = character
        self.element.dataset.entryId = row.key
        self.update(row, streaming=False, last=False)

    def update(self, row: Row, *, streaming: bool, last: bool) -> None:
        if row.entry is not None:
            agent = plain_line(row.entry.agent_id or "", 60)
            character = plain_line(self._character, 60)
            fill(self.element, text=plain(row.entry.content), agent=agent, character=character)
            show(part(self.element, "from"), bool(agent))
            show(part(self.element, "note"), not agent)
            self.element.title = formats.moment(row.entry.at)

    def close(self) -> None:
        """Holds nothing."""


class DrawnMessage:
    """A user or assistant entry. ``update`` is cheap when little has changed."""

    def __init__(self, row: Row, character: str) -> None:
        self.element = clone("message")
        self._character = character
        self._prose: Prose | None = None
        self._thoughts: Any = None
        self._reasoning = ""
        self._chips: dict[str, tuple[Any, str]] = {}
        self._typing: Any = None
        self._head: tuple[Any, ...] = ()
        self._unanswered = ""
        self._body = part(self.element, "body")
        self.element.dataset.entryId = row.key

    def update(self, row: Row, *, streaming: bool, last: bool) -> None:
        entry = row.entry
        assert entry is not None
        self._update_head(row, entry, streaming, last)
        self._update_body(entry, streaming)
        if entry.reasoning:
            self._update_reasoning(entry, streaming)
        if entry.tool_calls:
            self._update_chips(row, entry, streaming)

    def set_unanswered(self, said: str) -> None:
        """Says under a message that it has no answer, with a way to get one; empty: not at all."""
        if said == self._unanswered:
            return
        self._unanswered = said
        box = part(self.element, "unanswered")
        part(box, "reason").textContent = said
        show(box, bool(said))

    def _update_head(self, row: Row, entry: Entry, streaming: bool, last: bool) -> None:
        head = (
            entry.role,
            streaming,
            last,
            row.continues,
            row.bare,
            entry.stopped,
            entry.cut,
            entry.rejected,
            entry.model,
            entry.usage is None,
        )
        if head == self._head:
            return
        self._head = head
        element = self.element
        element.dataset.role = entry.role
        element.dataset.testid = "tool-activity" if row.bare else "message"
        for name, on in (
            ("streaming", streaming),
            ("last", last),
            ("continues", row.continues),
            ("bare", row.bare),
            ("rejected", entry.rejected),
            ("stopped", entry.stopped),
        ):
            mark(element, name, on)
        speaker = "You" if entry.role == "user" else self._character
        fill(element, speaker=speaker, facts=describe(entry))
        _set_mark(part(element, "stopped"), replies.not_whole(entry), entry.stopped)
        show(part(element, "go-on"), last and entry.stopped)
        _set_mark(part(element, "rejected"), "Rejected", entry.rejected)
        show(part(element, "foot"), not row.bare)

    def _update_body(self, entry: Entry, streaming: bool) -> None:
        waiting = streaming and not (entry.content or entry.tool_calls or entry.pictures)
        if waiting != (self._typing is not None):
            self._set_typing(waiting)
        if not waiting:
            if self._prose is None:
                self._prose = Prose(self._body)
            shown = replies.with_pictures(entry)
            self._prose.show(shown, complete=not streaming, cut=entry.stopped)

    def _set_typing(self, on: bool) -> None:
        if on:
            self._typing = clone("typing")
            self._body.replaceChildren(self._typing)
        else:
            self._typing.remove()
            self._typing = None

    def _update_reasoning(self, entry: Entry, streaming: bool) -> None:
        if self._thoughts is None:
            self._thoughts = clone("reasoning")
            self.element.insertBefore(self._thoughts, self._body)
        label = "Thinking…" if streaming and not entry.content else "Thoughts"
        fill(self._thoughts, reasoning_label=label)
        text, target = entry.reasoning or "", part(self._thoughts, "reasoning-text")
        if text.startswith(self._reasoning):
            target.append(text[len(self._reasoning) :])
        else:
            target.textContent = text
        self._reasoning = text

    def _update_chips(self, row: Row, entry: Entry, streaming: bool) -> None:
        holder = part(self.element, "chips")
        show(holder, True)
        for position, call in enumerate(entry.tool_calls):
            key = call.id or str(position)
            result = row.results.get(call.id)
            state = _call_state(result, streaming)
            chip, shown = self._chips.get(key, (None, ""))
            if chip is None:
                chip = clone("chip")
                holder.appendChild(chip)
            look = f"{state} {len(call.arguments)} {len(call.granted)}"
            if shown != look:
                _fill_chip(chip, call, result, state)
            self._chips[key] = (chip, look)

    def close(self) -> None:
        if self._prose is not None:
            self._prose.close()


def _set_mark(element: Any, text: str, on: bool) -> None:
    element.textContent = text if on else ""
    show(element, on)


def _call_state(result: Entry | None, streaming: bool) -> str:
    if result is not None:
        return "done" if result.ok else "failed"
    return "running" if streaming else "unanswered"


def _fill_chip(chip: Any, call: ToolCall, result: Entry | None, state: str) -> None:
    words = {"running": "running", "failed": "failed", "unanswered": "not run", "done": ""}
    chip.dataset.state = state
    fill(
        chip,
        name=plain_line(call.name, 80),
        state=words[state],
        arguments=pretty(call.arguments),
        result=result.content if result else "",
    )
    # What a sub-agent called in turn while it answered.
    inner = "\n".join(f"{granted.name} {granted.arguments}" for granted in call.granted)
    part(chip, "granted").textContent = inner
    show(part(chip, "granted-title"), bool(inner))
    show(part(chip, "granted"), bool(inner))
    show(part(chip, "result-title"), result is not None)
    show(part(chip, "result"), result is not None)


def pretty(text: str) -> str:
    """JSON text indented; anything else as it is."""
    try:
        return json.dumps(load_json(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def describe(entry: Entry) -> str:
    """Time, model and tokens, shown on demand below a message."""
    facts = [formats.moment(entry.at)]
    if entry.model:
        facts.append(plain_line(entry.model, 80))
    tokens = (entry.usage or {}).get("completion_tokens")
    if isinstance(tokens, int):
        facts.append(formats.plural(tokens, "token"))
    return " · ".join(facts)
