"""Every setting of the server in one table: its flag, environment variable and help.

``Settings`` is what ``create_app`` takes. The flag of ``proxy_hosts`` is ``--proxy-hosts`` and
its variable ``PERSONAE_PROXY_HOSTS``; a flag wins over the environment.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from personae.errors import UsageError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
STATIC = Path(__file__).parent / "static"


def words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())


def networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(word) for word in words(text))


def ports(text: str) -> tuple[int, ...]:
    numbers = tuple(int(word) for word in words(text))
    if not all(0 < number < 65536 for number in numbers):
        raise ValueError("a port is a number from 1 to 65535")
    return numbers


def switch(text: str) -> bool:
    values = {"1": True, "true": True, "on": True, "yes": True}
    values |= {"0": False, "false": False, "off": False, "no": False}
    if text.lower() not in values:
        raise ValueError("say on or off")
    return values[text.lower()]


def option(default: Any, help: str, parse: Callable[[str], Any] = str) -> Any:
    return field(default=default, metadata={"help": help, "parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator decides."""

    host: str = option("127.0.0.1", "address to listen on; 0.0.0.0 is every IPv4 interface")
    port: int = option(8000, "port to listen on; 0 takes a free one", int)
    name: str = option("Personae", "what this host calls itself in config.json")
    characters: Path | None = option(None, "folder of character zips to offer", Path)  # noqa: RUF009
    frame_ancestors: tuple[str, ...] = option(
        ("'self'",), "origins that may frame the page, as in CSP frame-ancestors", words
    )
    proxy: bool = option(True, "fetch package zips that browsers may not fetch", switch)
    proxy_hosts: tuple[str, ...] = option(
        (), "fetch from these hosts only; *.example.com is every name below it", words
    )
    proxy_ports: tuple[int, ...] = option((80, 443), "ports that may be fetched from", ports)
    proxy_networks: tuple[Network, ...] = option(
        (), "non-public networks that may be fetched from all the same, as 10.1.0.0/16", networks
    )
    static: Path = option(STATIC, "folder of the player's files", Path)  # noqa: RUF009


def add_flags(parser: argparse.ArgumentParser) -> None:
    for each in _options():
        text = f"{each.metadata['help']}{_shown(each.default)} ({_variable(each.name)})"
        if each.metadata["parse"] is switch:
            parser.add_argument(_flag(each.name), action=argparse.BooleanOptionalAction, help=text)
        else:
            parser.add_argument(_flag(each.name), metavar="VALUE", help=text)


def read_settings(flags: Mapping[str, Any], environment: Mapping[str, str]) -> Settings:
    """Flags first, then the environment, then defaults; an empty value counts as absent.

    Raises UsageError (``setting_invalid``) naming the flag or variable with an unusable value.
    """
    values: dict[str, Any] = {}
    for each in _options():
        given, source = flags.get(each.name), _flag(each.name)
        if given is None:
            given, source = environment.get(_variable(each.name)), _variable(each.name)
        if isinstance(given, bool):
            values[each.name] = given
        elif given:
            values[each.name] = _parsed(each.metadata["parse"], given, source)
    return Settings(**values)


def _options() -> list[dataclasses.Field[Any]]:
    return list(dataclasses.fields(Settings))


def _parsed(parse: Callable[[str], Any], text: str, source: str) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError("setting_invalid", f"{source} is {text!r}: {error}") from error


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _variable(name: str) -> str:
    return "PERSONAE_" + name.upper()


def _shown(default: Any) -> str:
    if default in (None, (), "", STATIC) or isinstance(default, bool):
        return ""
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
    return f" [{shown}]"
