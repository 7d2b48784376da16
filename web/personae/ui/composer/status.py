"""What the status line says about the turn. Pure."""

from __future__ import annotations

from typing import Any

_PATIENCE = 3.0
"""Seconds of waiting that need no number."""


def turn_text(turn: dict[str, Any], character: str, elapsed: float = 0.0) -> str:
    """One short line for the state of the turn; empty when there is nothing to say.

    ``elapsed``: seconds since the state was entered.
    """
    state, detail = str(turn.get("state", "idle")), str(turn.get("detail") or "")
    if state == "retrying":
        return _countdown(float(turn.get("seconds") or 0) - elapsed, detail)
    if state == "streaming" and detail == "reasoning":
        return f"{character} is thinking…"
    texts = {
        "loading": "Getting the agents ready…",
        "preload": f"{character} is gathering thoughts…",
        "waiting": "Waiting for the model…",
        "streaming": f"{character} is replying…",
        "tools": f"Running {detail}…" if detail else "Running a tool…",
        "hooks": "Agents are taking note…",
    }
    text = texts.get(state, "")
    counts = state in ("waiting", "tools") and elapsed >= _PATIENCE
    return f"{text} {elapsed:.0f} s" if counts else text


def _countdown(left: float, detail: str) -> str:
    lead = f"Trying again in {left:.0f} s." if left >= 1 else "Trying again…"
    return f"{lead} {detail}".strip()
