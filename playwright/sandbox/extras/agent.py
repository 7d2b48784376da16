"""
@agent extras.suite
@description Uses what an agent only gets when its source names it.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones


def check(name: str) -> object:
    return CHECKS[name]()


def tokyo() -> str:
    return datetime(2024, 7, 1, 12, tzinfo=UTC).astimezone(ZoneInfo("Asia/Tokyo")).isoformat()


def summer() -> list[str]:
    winter = datetime(2024, 3, 31, 0, 30, tzinfo=UTC)
    zone = ZoneInfo("Europe/Berlin")
    return [(winter + timedelta(hours=hour)).astimezone(zone).isoformat() for hour in (0, 1)]


def names() -> list[bool]:
    zones = available_timezones()
    return [len(zones) > 500, "UTC" in zones, "America/New_York" in zones]


def unknown() -> str:
    try:
        return str(ZoneInfo("Mars/Olympus"))
    except ZoneInfoNotFoundError as error:
        return str(error)


CHECKS = {"tokyo": tokyo, "summer": summer, "names": names, "unknown": unknown}
