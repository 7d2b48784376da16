"""The user's settings for one player; nothing in a package can change them.

Reference: Agent token caps; Initialization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from personae.errors import UsageError

REHEARSAL = "rehearsal"


@dataclass(frozen=True, slots=True)
class Limits:
    """Tokens that agents may spend through studio.callModel."""

    response: int = 32_000
    """Within one response."""
    conversation: int = 1_000_000
    """Over the life of one conversation."""


@dataclass(frozen=True, slots=True)
class Settings:
    """``model`` empty: the rehearsal model until a key or a base URL is set, then one must be
    chosen. ``worker_model`` empty: the main model works for agents too."""

    api_key: str = ""
    base_url: str = ""
    model: str = ""
    worker_model: str = ""
    limits: Limits = Limits()
    web_access: bool = False
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """New settings. Raises UsageError ``unknown_setting`` or ``bad_setting``."""
        known = {field.name for field in fields(self)}
        for name in changes:
            if name not in known:
                raise UsageError(
                    "unknown_setting",
                    f"There is no setting {name!r}. Known: {', '.join(sorted(known))}.",
                )
        values = dict(changes)
        if "limits" in values:
            values["limits"] = limits_from(values["limits"])
        return replace(self, **values)

    def model_for(self, role: str) -> str:
        """The model id of ``"main"`` or ``"worker"``."""
        unset = "" if self.api_key or self.base_url else REHEARSAL
        main = self.model or unset
        return (self.worker_model or main) if role == "worker" else main


def limits_from(value: Limits | Mapping[str, Any] | None) -> Limits:
    """Limits from ``{"response": tokens, "conversation": tokens}``; what is absent is default."""
    if isinstance(value, Limits):
        return value
    given = dict(value or {})
    for name, tokens in given.items():
        if name not in ("response", "conversation"):
            raise UsageError("unknown_setting", f"There is no limit {name!r}.")
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            raise UsageError("bad_setting", f"The limit {name!r} must be a number of tokens.")
    return Limits(**given)
