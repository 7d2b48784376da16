"""The page's address: which character it shows, so that reload, back and sharing work.

``?loadCharacter=<link>`` is the public form (a package to fetch); ``?character=<id>`` names one in
the library; without either it is the start screen.
"""

from __future__ import annotations

import js

LINK, STORED = "loadCharacter", "character"


def wanted() -> tuple[str, str]:
    """(link, stored character id); empty where the address names none."""
    query = js.URLSearchParams.new(js.location.search)
    return str(query.get(LINK) or ""), str(query.get(STORED) or "")


def absolute(url: str) -> str:
    """``url`` relative to the page; as it is when it is no URL at all."""
    base = js.document.baseURI
    return str(js.URL.new(url, base).href) if js.URL.canParse(url, base) else url


def show_character(character_id: str, link: str) -> None:
    """Puts the character on stage into the address; a shared link stays readable there."""
    query = js.URLSearchParams.new()
    query.set(LINK if link else STORED, link or character_id)
    _push(f"?{query.toString()}")


def push_home() -> None:
    _push(str(js.location.pathname))


def _push(address: str) -> None:
    here = f"{js.location.pathname}{js.location.search}"
    there = address if not address.startswith("?") else f"{js.location.pathname}{address}"
    if there != here:
        js.history.pushState(None, "", there)
