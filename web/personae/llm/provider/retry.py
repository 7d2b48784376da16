"""When and how long to wait before a request is sent again."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from personae.errors import ModelError

MAX_WAIT = 60.0
"""Seconds; who asks for more is not asked again."""
MAX_RETRIES = 3

_RETRIED = frozenset(
    {
        "model_rate_limited",
        "model_server_error",
        "model_stream_error",
        "model_connection_lost",
        "model_unreachable",
        "model_offline",
        "model_bad_call",
    }
)


def wait_before_retry(error: ModelError, attempt: int, random: Callable[[], float]) -> float | None:
    """Seconds to wait after the ``attempt``-th request (from 1) failed; None: give up.

    Retry-After is honoured as far as anybody would wait for it; otherwise the wait doubles from
    one second, with a jitter of half.
    """
    if error.code not in _RETRIED or attempt > MAX_RETRIES:
        return None
    asked: float | None = error.detail.get("retryAfter")
    if asked is not None:
        return asked if asked <= MAX_WAIT else None
    wait: float = min(2.0 ** (attempt - 1), MAX_WAIT)
    return wait * (0.5 + random() / 2)


def retry_after(headers: Mapping[str, str], now: int) -> float | None:
    """The wait a response asks for, in seconds; None when absent or nonsense.

    ``now``: milliseconds since the epoch. The header holds seconds or a date.
    """
    text = headers.get("retry-after", "").strip()
    seconds = _seconds(text) if text else None
    if seconds is None and text:
        seconds = _until(text, now)
    return None if seconds is None else max(seconds, 0.0)


_HINT = re.compile(
    r"(?:retry|try again|reset\w*|available)\b[^.;:]{0,20}? in[: ]*"
    r"(?P<wait>(?:\d+(?:\.\d+)? ?(?:ms|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?"
    r"|[smhd])\b[ ,]*)+|(?:\d+[dhm])+\d+(?:\.\d+)?m?s\b|(?:\d+[dhm]){2,})",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?) ?(ms|mil|[smhd])", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def wait_in_words(text: str) -> float | None:
    """The wait that a provider's sentence asks for, in seconds: "try again in 7m12s"."""
    match = _HINT.search(text)
    if match is None:
        return None
    return sum(
        float(number) * _SECONDS[unit.lower()] for number, unit in _PART.findall(match["wait"])
    )


def spelled(seconds: float) -> str:
    """A wait as one says it."""
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _seconds(text: str) -> float | None:
    """Digits with an optional fraction: what float() takes beside that is no duration."""
    whole, _, fraction = text.partition(".")
    digits = whole + fraction
    return float(text) if whole and digits.isascii() and digits.isdigit() else None


def _until(text: str, now: int) -> float | None:
    from email.utils import parsedate_to_datetime  # heavy, and seldom needed

    try:
        moment = parsedate_to_datetime(text)
        return moment.timestamp() - now / 1000
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
