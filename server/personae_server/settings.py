"""Every setting of the server in one table: its flag, environment variable and help.

``Settings`` is what ``create_app`` takes. The flag of ``proxy_hosts`` is ``--proxy-hosts`` and
its variable ``PERSONAE_PROXY_HOSTS``; a flag wins over the environment. The relay's key is no
flag, since every user of a machine can read a process's arguments: it comes from the environment,
or from the file that ``PERSONAE_RELAY_KEY_FILE`` names.
"""

from __future__ import annotations

import argparse
import dataclasses
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from limits import parse_many
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


def whole(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not least <= int(text) <= most:
            raise ValueError(f"it goes from {least} to {most}")
        return int(text)

    return parse


def seconds(text: str) -> float:
    if not 0 <= float(text) <= 86_400:
        raise ValueError("it goes from 0 to 86400")
    return float(text)


def one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"say {' or '.join(choices)}")
        return text

    return parse


def existing_folder(text: str) -> Path:
    if not Path(text).is_dir():
        raise ValueError("there is no such folder")
    return Path(text)


def rate(text: str) -> str:
    parse_many(text)
    return text


def base_url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError("give an http(s) URL without a user name")
    return text.rstrip("/")


def option(default: Any, help: str, parse: Callable[[str], Any] = str) -> Any:
    return field(default=default, metadata={"help": help, "parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator decides. Rates are written ``60/minute``, several with ``;`` between."""

    host: str = option("127.0.0.1", "address to listen on; 0.0.0.0 is every IPv4 interface")
    host_names: tuple[str, ...] = option(
        (),
        "names to answer to, beside IP addresses, localhost and this machine's own name; "
        "*.example.com is every name below, * is any",
        words,
    )
    port: int = option(8000, "port to listen on; 0 takes a free one", whole(0, 65535))
    workers: int = option(1, "processes that serve", whole(1, 256))
    grace: float = option(10.0, "seconds that streams may go on after a stop signal", seconds)
    trusted_proxies: tuple[str, ...] = option(
        (), "reverse proxies (addresses, networks) whose X-Forwarded headers count", words
    )
    log: str = option("text", "form of the log on stderr: text, or json", one_of("text", "json"))
    metrics_port: int = option(
        0, "port of the Prometheus metrics; 0 turns them off", whole(0, 65535)
    )
    metrics_host: str = option("127.0.0.1", "address the metrics listen on")
    name: str = option("Personae", "what this host calls itself in config.json")
    characters: Path | None = option(None, "folder of character zips to offer", existing_folder)  # noqa: RUF009
    frame_ancestors: tuple[str, ...] = option(
        ("'self'",), "origins that may frame the page, as in CSP frame-ancestors", words
    )
    rate_store: str = option(
        "memory://", "where rates are counted: memory://, or redis://HOST for all processes"
    )

    proxy: bool = option(True, "fetch package zips that browsers may not fetch", switch)
    proxy_hosts: tuple[str, ...] = option(
        (), "fetch packages from these hosts only; *.example.com is every name below", words
    )
    proxy_ports: tuple[int, ...] = option(
        (80, 443), "ports that packages and pages may be fetched from", ports
    )
    proxy_networks: tuple[Network, ...] = option(
        (), "non-public networks that may be fetched from all the same, as 10.1.0.0/16", networks
    )
    proxy_rate: str = option("60/minute", "packages each client may fetch", rate)
    proxy_streams: int = option(16, "packages of one client at a time", whole(1, 2**30))
    cache: Path | None = option(None, "folder that keeps fetched packages", Path)  # noqa: RUF009
    cache_mib: int = option(1024, "size the cache is held to, in MiB", whole(1, 2**30))

    reader: bool = option(False, "let agents read web pages (studio.web.fetch)", switch)
    reader_hosts: tuple[str, ...] = option((), "read pages of these hosts only", words)
    reader_rate: str = option("30/minute", "pages each client may read", rate)

    relay_url: str = option("", "base URL of the model service to relay to, with its /v1", base_url)
    relay_key: str = option("", "key of the model service")
    relay_models: tuple[str, ...] = option(
        (), "models that may be used, the first one unasked; * is every one", words
    )
    relay_fields: tuple[str, ...] = option(
        (),
        "more fields of chat completions to forward, unchecked (top_k), or a number's bound (n=1)",
        words,
    )
    relay_rate: str = option("20/minute", "model requests of each client", rate)
    relay_tokens: str = option("1000000/day", "model tokens of each client", rate)
    relay_streams: int = option(4, "model requests of one client at a time", whole(1, 2**30))
    relay_sign_in: str = option("", "ASGI callable that names the user, as package.module:name")

    static: Path = option(STATIC, "folder of the player's files", Path)  # noqa: RUF009

    def __post_init__(self) -> None:
        if self.relay_url and not self.relay_models:
            message = "The relay needs relay_models: name the models that may be used, or *."
            raise UsageError("setting_missing", message)

    @property
    def relay_default(self) -> str:
        """The model that answers visitors who choose none; empty: the first of the service's."""
        first = self.relay_models[0] if self.relay_url else ""
        return "" if first == "*" else first


SECRET = "relay_key"  # noqa: S105 - the name of the one setting that is no flag


def add_flags(parser: argparse.ArgumentParser) -> None:
    for each in _options():
        if each.name == SECRET:
            continue
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
    environment = _with_secret(environment)
    for each in _options():
        given, source = flags.get(each.name), _flag(each.name)
        if given is None:
            given, source = environment.get(_variable(each.name)), _variable(each.name)
        if isinstance(given, bool):
            values[each.name] = given
        elif given:
            values[each.name] = _parsed(each.metadata["parse"], given, source)
    return Settings(**values)


def as_environment(flags: Mapping[str, Any]) -> dict[str, str]:
    """The given flags as variables, for worker processes to read."""
    given = {each.name: flags.get(each.name) for each in _options()}
    return {_variable(name): str(value) for name, value in given.items() if value is not None}


def _with_secret(environment: Mapping[str, str]) -> Mapping[str, str]:
    path = environment.get(_variable(SECRET) + "_FILE")
    if not path:
        return environment
    try:
        return {**environment, _variable(SECRET): Path(path).read_text("utf-8").strip()}
    except OSError as error:
        message = f"{_variable(SECRET)}_FILE is {path!r}: {error.strerror}"
        raise UsageError("setting_invalid", message) from error


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
    if default in (None, (), "", 0, STATIC) or isinstance(default, bool):
        return ""
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
    return f" [{shown}]"
