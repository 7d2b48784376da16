"""What the status line says about the turn. Pure."""

from __future__ import annotations

from personae.conversation.changes import State, TurnState
from personae.unicode import plain_line

_NAME = 64
"""Characters of a tool's name, which the model may have made up."""
_PATIENCE = 3.0
"""Seconds of waiting that need no number."""


def turn_text(turn: TurnState, character: str, elapsed: float = 0.0) -> str:
    """One short line for the state of the turn; empty when there is nothing to say.

    ``elapsed``: seconds since the state was entered.
    """
    if turn.state == "retrying":
        return _countdown((turn.seconds or 0) - elapsed, turn.detail)
    texts: dict[State, str] = {
        "loading": "Getting the agents ready…",
        "preload": f"{character} is gathering thoughts…",
        "waiting": "Waiting for the model…",
        "thinking": f"{character} is thinking…",
        "streaming": f"{character} is replying…",
        "tools": f"Running {plain_line(turn.detail, _NAME)}…" if turn.detail else "Running a tool…",
        "hooks": "Agents are taking note…",
    }
    text = texts.get(turn.state, "")
    counts = turn.state in ("waiting", "tools") and elapsed >= _PATIENCE
    return f"{text} {elapsed:.0f} s" if counts else text


def _countdown(left: float, detail: str) -> str:
    lead = f"Trying again in {left:.0f} s." if left >= 1 else "Trying again…"
    return f"{lead} {detail}".strip()
