"""Every error a user, embedder or agent author can meet, in one tree.

Invariants: each error has a stable ``code`` (part of the public interface: embedders switch on
it) and a message that says what happened, where, and what to do. Messages never carry an API
key. ``detail`` holds machine-readable facts, JSON-compatible.
"""

from __future__ import annotations

from typing import Any


class PersonaeError(Exception):
    """Base of all errors raised on purpose."""

    def __init__(self, code: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail: dict[str, Any] = detail


class PackageError(PersonaeError):
    """A package cannot be read or played. ``detail["problems"]`` lists every reason."""


class ModelError(PersonaeError):
    """The model endpoint refused, failed or answered with something unusable.

    ``detail``: ``status`` (HTTP status or None), ``url``, ``retryAfter`` (seconds or None).
    """


class AgentError(PersonaeError):
    """An agent threw, ran past its deadline, or broke a limit.

    ``detail``: agentId, function; ``thrown``: the agent's own words, which end the message; where
    they are known the ``type`` of what was thrown, ``file``, ``line`` and ``stack``; ``told``: what
    the model hears in the place of a result, if that is something else.
    """


class BridgeError(PersonaeError):
    """A ``studio`` call was refused or failed; the message reaches the agent."""


class BudgetError(BridgeError):
    """A token cap is spent."""


class ToolError(PersonaeError):
    """A tool call that cannot be run or failed; the message reaches the model."""


class StorageError(PersonaeError):
    """Storage is full, blocked, refused or broken."""


class UsageError(PersonaeError):
    """The caller asked for something impossible now (busy, disposed, unknown id, read-only)."""
