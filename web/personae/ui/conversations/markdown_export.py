"""Conversations as Markdown for people; the JSON form is the player's own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from personae.ui import formats


def as_markdown(exported: Mapping[str, Any], intro: str) -> str:
    """An exported conversation as a document: title, speakers, what was rejected left out."""
    character = str(exported["character"])
    title = exported["conversation"].get("title") or f"Conversation with {character}"
    parts = [
        f"# {title}",
        f"*{character}, {formats.moment(exported['conversation']['createdAt'])}*",
    ]
    if intro.strip():
        parts += [f"**{character}**", intro.strip()]
    parts += _turns(character, exported["entries"])
    return "\n\n".join(parts) + "\n"


def _turns(character: str, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    speaker = ""
    for entry in entries:
        text = str(entry.get("content") or "").strip()
        pictures = [f"![Picture]({url})" for url in entry.get("pictures") or ()]
        if not (text or pictures) or entry.get("rejected") or entry["role"] == "tool":
            continue
        if entry["role"] in ("log", "summary"):
            yield "\n".join(f"> {line}" for line in text.splitlines())
            continue
        name = "You" if entry["role"] == "user" else character
        if name != speaker:
            yield f"**{name}**"
            speaker = name
        yield from filter(None, [text, *pictures])
        if entry.get("stopped"):
            yield "*(cut off)*" if entry.get("cut") else "*(stopped)*"


def file_name(character: str, title: str, extension: str) -> str:
    label = formats.one_line(title or "conversation", 60).rstrip("…")
    return f"{character} - {label}.{extension}"
