"""A reply as it is shown: its pictures, and whether it is whole. Pure."""

from __future__ import annotations

from personae.conversation.entries import Cut, Entry

_CUT: dict[Cut, str] = {
    "length": "Cut off: the limit of its length was reached",
    "filter": "Cut off by the provider's content filter",
    "end": "Cut off: the answer ended early",
}


def not_whole(entry: Entry) -> str:
    """What marks a reply that is not whole."""
    return "Stopped" if entry.cut is None else _CUT[entry.cut]


def with_pictures(entry: Entry) -> str:
    """The text as Markdown, with the model's pictures below it.

    Drawn as a message's own pictures are: embedded ones at once, others when they are asked for.
    """
    pictures = [f"![Picture]({url})" for url in entry.pictures]
    return "\n\n".join([*filter(None, [entry.content]), *pictures])
