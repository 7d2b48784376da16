"""The user's settings for one player; nothing in a package can change them.

Reference: Agent token caps; Initialization. The one place of their defaults. Invariant: a key
belongs to the origin of the base URL it was given with, or of the one that was set when it came.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from personae.credentials import BadBaseUrl, Credentials, read_base_url
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

    base_url: str = ""
    credentials: Credentials = field(default_factory=Credentials)
    model: str = ""
    worker_model: str = ""
    limits: Limits = Limits()
    web_access: bool = False
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None

    def changed(self, changes: Mapping[str, Any]) -> Settings:
        """New settings. ``api_key``: for the origin of the base URL that is set or changed to.

        Raises UsageError ``unknown_setting`` or ``bad_setting``.
        """
        known = {"api_key", *(item.name for item in fields(self))}
        for name in changes:
            if name not in known:
                raise UsageError(
                    "unknown_setting",
                    f"There is no setting {name!r}. Known: {', '.join(sorted(known))}.",
                )
        values = dict(changes)
        if "limits" in values:
            values["limits"] = limits_from(values["limits"])
        key = values.pop("api_key", None)
        made = replace(self, **values)
        _check_base_url(made.base_url)
        if key is None:
            return made
        if not isinstance(key, str):
            raise UsageError("bad_setting", "The API key is a text.")
        return replace(made, credentials=made.credentials.entered(key, made.base_url))

    def model_for(self, role: str) -> str:
        """The model id of ``"main"`` or ``"worker"``."""
        unset = "" if self.credentials or self.base_url else REHEARSAL
        main = self.model or unset
        return (self.worker_model or main) if role == "worker" else main


def _check_base_url(base_url: str) -> None:
    """Refuses a base URL that holds a secret; what else is wrong is told when it is asked."""
    try:
        read_base_url(base_url)
    except BadBaseUrl as fault:
        if fault.secret:
            raise UsageError("bad_setting", str(fault)) from None


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
