"""How the app writes numbers, sizes and times. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta

from personae.unicode import plain

_UNITS = ("bytes", "KB", "MB", "GB")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def size(count: int) -> str:
    """``count`` bytes for people: 812 bytes, 4.2 KB, 13 MB."""
    value, unit = float(count), 0
    while value >= 1000 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    digits = 1 if unit and value < 10 else 0
    return f"{value:.{digits}f} {_UNITS[unit]}"


def progress(done: int, total: int | None) -> str:
    return f"{size(done)} of {size(total)}" if total else size(done)


def count(number: int) -> str:
    """1234567 -> 1,234,567."""
    return f"{number:,}"


def plural(number: int, one: str, many: str = "") -> str:
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def clock(at: int) -> str:
    """Hours and minutes of ``at`` (milliseconds since the epoch) in local time."""
    return datetime.fromtimestamp(at / 1000).strftime("%H:%M")


def moment(at: int) -> str:
    """Date and time, unambiguous: 3 Mar 2026, 14:05."""
    when = datetime.fromtimestamp(at / 1000)
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}, {when:%H:%M}"


def day_group(at: int, now: int) -> str:
    """The heading a conversation is listed under."""
    then, today = (datetime.fromtimestamp(value / 1000).date() for value in (at, now))
    if then >= today:
        return "Today"
    if then == today - timedelta(days=1):
        return "Yesterday"
    if then > today - timedelta(days=7):
        return "This week"
    if (then.year, then.month) == (today.year, today.month):
        return "This month"
    return f"{_MONTHS[then.month - 1]} {then.year}"


def short_time(at: int, now: int) -> str:
    """14:05 today, 3 Mar this year, else 3 Mar 2024."""
    then, today = (datetime.fromtimestamp(value / 1000) for value in (at, now))
    if then.date() == today.date():
        return clock(at)
    date = f"{then.day} {_MONTHS[then.month - 1]}"
    return date if then.year == today.year else f"{date} {then.year}"


def initials(name: str) -> str:
    """One or two letters that stand for ``name``; never empty."""
    words = [word for word in name.split() if word[0].isalnum()]
    letters = "".join(word[0] for word in (words[:1] + words[-1:] if len(words) > 1 else words))
    return letters.upper() or "?"


def hue(name: str) -> int:
    """A colour angle that stays with ``name``, the same in every session."""
    return sum((index + 7) * ord(letter) for index, letter in enumerate(name)) % 360


def one_line(text: str, limit: int = 80) -> str:
    """``text`` on one line, cut at a word where that is possible."""
    line = " ".join(plain(text).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[limit // 2 :] else cut) + "…"


def estimate_tokens(text: str) -> int:
    """About how many tokens ``text`` is: four characters each."""
    return (len(text) + 3) // 4
