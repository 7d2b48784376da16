"""What strangers may read of a model service's error: its words without keys and places.

Services name in their errors what they talk to: addresses, host names, ports, database URLs. Which
of them are inner cannot be told from the text, so none is passed on: every URL, every IP address in
any spelling, every host name that can be recognised, the service's own names, and what a
traceback says. Field names, numbers and the sentences around them stay, since clients act on
them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"
MAX_MESSAGE = 2000

_TRACEBACK = "Traceback (most recent call last)"
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,30}://[^\s\"'<>\\]+", re.IGNORECASE)
_KEY_LIKE = re.compile(
    r"\b(?:(?:sk|pk|key)[-_][\w*.-]{8,}|bearer\s+[\w*.~+/=-]{8,})", re.IGNORECASE
)
_V4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w]|\.\d)(?::\d{1,5})?")
# Cut at the ends by what no address has; `ipaddress` decides what is one.
_V6 = re.compile(r"\[?(?<![\w:.])[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*(?:%[\w.-]+)?\]?", re.IGNORECASE)
_NAME = r"[a-z0-9_][a-z0-9_-]{0,62}"
_HOST = rf"(?<![\w./@-])(?=[\d.]{{0,20}}[a-z]){_NAME}(?:\.{_NAME}){{0,10}}"
_WITH_PORT = re.compile(rf"{_HOST}\.?:\d{{2,5}}(?![\w.])", re.IGNORECASE)
_ENDINGS = (
    # Networks of one house: reserved for that, or taken for it everywhere.
    "local", "localhost", "localdomain", "internal", "intranet", "private", "lan", "home",
    "corp", "arpa", "svc", "cluster", "consul", "docker", "test", "invalid", "example",
    # The public ends that companies' inner names have, too.
    "com", "net", "org", "io", "ai", "dev", "app", "cloud", "co", "edu", "gov", "eu", "tech",
    "run", "sh", "de", "fr", "uk", "nl", "ch", "at", "it", "es", "se", "no", "fi", "dk", "pl",
    "cz", "be", "ie", "pt", "jp", "cn", "kr", "in", "sg", "au", "nz", "ca", "us", "br", "ru",
)  # fmt: skip
_DOTTED = re.compile(
    rf"(?<![\w/@-])(?<!\w\.)(?:{_NAME}\.){{1,10}}(?:{'|'.join(_ENDINGS)})(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_LOCALHOST = re.compile(r"(?<![\w.-])(?:localhost|ip6-\w+)(?![\w.-])", re.IGNORECASE)
# A name without a dot is told by the words before it.
_SAID_TO_BE_HOST = re.compile(
    r"((?:\bhost(?:name)?\s*[=:]\s*|\b(?:resolve|resolving|lookup|getaddrinfo(?: failed for)?"
    r"|(?:connect(?:ing|ed|ion)?|route|request) (?:to|with)|no such host:?"
    r"|name or service not known:?|not known:?|unreachable:?|refused by|timed out:?)\s+"
    r"(?:the\s+)?(?:host(?:name)?\s+|server\s+|node\s+|address\s+)?(?:at\s+)?)[\[(]?[\"'`]?)"
    r"(?!(?:the|a|an|this|that|any|host|server|service|model|upstream|backend|address|at)\b)"
    rf"({_NAME}(?:\.{_NAME})*)",
    re.IGNORECASE,
)


class Redactor:
    """For one model service, whose key and host are known."""

    def __init__(self, key: str, host: str) -> None:
        self.key = key
        self._own = _own_names(host) if host else None

    def text(self, text: str) -> str:
        """``text`` without keys, places and tracebacks, at most MAX_MESSAGE characters."""
        if self.key:
            text = text.replace(self.key, HIDDEN)
        text = _shortened(text.partition(_TRACEBACK)[0])
        for pattern in (_URL, _KEY_LIKE, _V4):
            text = pattern.sub(HIDDEN, text)
        text = _V6.sub(_hidden_if_address, text)
        if self._own:
            text = self._own.sub(HIDDEN, text)
        for pattern in (_WITH_PORT, _DOTTED, _LOCALHOST):
            text = pattern.sub(HIDDEN, text)
        return _SAID_TO_BE_HOST.sub(rf"\1{HIDDEN}", text)[:MAX_MESSAGE]

    def error(self, error: Any) -> dict[str, Any]:
        """A service's error object (or its text alone), of what clients know how to read."""
        told = error if isinstance(error, Mapping) else {"message": error}
        kept = {name: told.get(name) for name in ("message", "code", "type", "param")}
        return {
            name: self.text(value) if isinstance(value, str) else value
            for name, value in kept.items()
            if isinstance(value, str | int)
        }


def _shortened(text: str) -> str:
    """At most a few times MAX_MESSAGE, cut between words: half an address is not recognised."""
    if len(text) <= 4 * MAX_MESSAGE:
        return text
    return text[: 4 * MAX_MESSAGE].rpartition(" ")[0]


def _own_names(host: str) -> re.Pattern[str]:
    """The service's host, and its neighbours in the same domain."""
    first, _, domain = host.partition(".")
    names = [re.escape(host)]
    if "." in domain and not first.isdigit():
        names.append(rf"(?:{_NAME}\.){{0,10}}{re.escape(domain)}")
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(names)})(?![\w-])", re.IGNORECASE)


def _hidden_if_address(found: re.Match[str]) -> str:
    text = found[0]
    core = text.strip("[]").partition("%")[0]
    # A sentence may end or go on right after it.
    for candidate in (core, core.removesuffix(":"), core.rstrip("."), core.rstrip(".:")):
        try:
            ipaddress.IPv6Address(candidate)
        except ValueError:
            continue
        return HIDDEN + core[len(candidate) :]
    return text
