"""When and how long to wait before a request is sent again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from personae.errors import ModelError

MAX_WAIT = 60.0
"""Seconds; a longer Retry-After is clamped to it."""
MAX_RETRIES = 3

_RETRIED = frozenset(
    {
        "model_rate_limited",
        "model_server_error",
        "model_stream_error",
        "model_connection_lost",
        "model_unreachable",
        "model_offline",
    }
)


def wait_before_retry(error: ModelError, attempt: int, random: Callable[[], float]) -> float | None:
    """Seconds to wait after the ``attempt``-th request (from 1) failed; None: give up.

    Retry-After is honoured; otherwise the wait doubles from one second, with a jitter of half.
    """
    if error.code not in _RETRIED or attempt > MAX_RETRIES:
        return None
    asked: float | None = error.detail.get("retryAfter")
    if asked is not None:
        return asked
    wait: float = min(2.0 ** (attempt - 1), MAX_WAIT)
    return wait * (0.5 + random() / 2)


def retry_after(headers: Mapping[str, str], now: int) -> float | None:
    """The wait a response asks for, in seconds, 0 to 60; None when absent or nonsense.

    ``now``: milliseconds since the epoch. The header holds seconds or a date.
    """
    text = headers.get("retry-after", "").strip()
    seconds = _seconds(text) if text else None
    if seconds is None and text:
        seconds = _until(text, now)
    return None if seconds is None else min(max(seconds, 0.0), MAX_WAIT)


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
