"""Whose something is, as it stands in the keys of stores, logs and pending edits.

A scope is a member's id, or ``room`` for what a conversation's members share. The first member's
agents go by their ids alone, others are ``scope:agent``; an agent's id holds no colon.
"""

from __future__ import annotations

from personae.conversation.entries import FIRST_MEMBER

ROOM = "room"


def scoped(scope: str, agent_id: str) -> str:
    """How an agent of that scope is named in keys."""
    return agent_id if scope == FIRST_MEMBER else f"{scope}:{agent_id}"


def scope_and_agent(name: str) -> tuple[str, str]:
    """What ``scoped`` was made of."""
    scope, _, agent_id = name.rpartition(":")
    return scope or FIRST_MEMBER, agent_id
