"""What a file that somebody drops or pastes is good for. Pure."""

from __future__ import annotations

from typing import Literal


def file_kind(name: str, media_type: str) -> Literal["conversation", "package", "other"]:
    """By its name, else by what the browser takes it for."""
    name = name.lower()
    if name.endswith(".json"):
        return "conversation"
    if name.endswith(".zip") or media_type in ("application/zip", "application/x-zip-compressed"):
        return "package"
    return "other"


def not_taken(name: str, media_type: str) -> str:
    """What is said of a file of another kind."""
    what = (
        "Pictures cannot be sent" if media_type.startswith("image/") else f"{name} cannot be used"
    )
    return (
        f"{what} here. A character comes as a .zip file, a conversation as the .json file of its "
        "export."
    )
