"""What the status line says about the turn. Pure."""

from __future__ import annotations

from typing import Any


def turn_text(turn: dict[str, Any], character: str) -> str:
    """One short line for the state of the turn; empty when there is nothing to say."""
    state, detail = turn.get("state", "idle"), str(turn.get("detail") or "")
    seconds = turn.get("seconds")
    texts = {
        "loading": "Getting the agents ready…",
        "preload": f"{character} is gathering thoughts…",
        "waiting": "Waiting for the model…",
        "streaming": f"{character} is replying…",
        "tools": f"Running {detail}…" if detail else "Running a tool…",
        "hooks": "Agents are taking note…",
        "retrying": detail or "Trying again…",
    }
    text = texts.get(str(state), "")
    if text and isinstance(seconds, int | float) and seconds >= 1:
        text += f" {seconds:.0f} s"
    return text
