"""Which key belongs to whom: keys by origin, and what a base URL may be.

Invariants: a key is answered for URLs of the origin it was entered for and for no other; an
address that a browser might read in another way than this module has no origin; no key is in a
repr, and no message repeats what was entered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import parse_qsl

OWN_HOST = "/"
"""The origin of paths on the page's own host (``/v1``)."""
REHEARSAL_ORIGIN = "rehearsal:"

_CHAT = "/chat/completions"
_WEB = re.compile(
    r"(?P<scheme>https?)://(?:(?P<user>[^/?#]*)@)?"
    r"(?P<host>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?(?=[/?#]|$)",
    re.IGNORECASE,
)
_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_UNFIT = re.compile(r"[^!-~]|\\")
"""What browsers drop, replace or read as something else: spaces, controls, backslashes."""
_SECRET_NAME = re.compile(
    r"(^|[^a-z])(api[-_]?key|key|token|secret|sig|signature|password|passwd|pwd|auth\w*"
    r"|credentials?|bearer|code|session|sid|jwt)($|[^a-z])|key$|token$|secret$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?=.*\d)(?=.*[A-Za-z])\S{24,}|\S{40,}")
_SHORTEST = 4
"""Characters; what is shorter is no key, and hiding it would only garble a text."""
_RUN = 12
"""Characters of a key in a row that are hidden as well: a message may hold a part of it."""
HIDDEN = "[hidden]"


class BadBaseUrl(ValueError):
    """Why a base URL cannot be used; ``secret``: it holds one."""

    def __init__(self, message: str, *, secret: bool = False) -> None:
        super().__init__(message)
        self.secret = secret


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """``address``: what ``/chat/completions`` is appended to; ``query`` with its question mark."""

    origin: str
    address: str
    query: str


@lru_cache(maxsize=32)
def read_base_url(text: str) -> BaseUrl:
    """A base URL as it was typed or pasted, its origin told. Raises BadBaseUrl."""
    text = text.strip()
    if text.lower().startswith(REHEARSAL_ORIGIN):
        return BaseUrl(REHEARSAL_ORIGIN, text.rstrip("/"), "")
    if _UNFIT.search(text):
        raise BadBaseUrl("The base URL holds spaces, backslashes or letters that no URL has.")
    origin = _origin(text)
    address, mark, query = text.partition("#")[0].partition("?")
    _refuse_secrets(query)
    return BaseUrl(origin, address.rstrip("/").removesuffix(_CHAT).rstrip("/"), mark + query)


def origin_of(url: str) -> str:
    """The origin of a base URL or of a request's URL; empty when it has none."""
    try:
        return read_base_url(url).origin
    except BadBaseUrl:
        return ""


def without_secrets(base_url: str) -> str:
    """A base URL that was stored before secrets in it were refused, without them."""
    try:
        read_base_url(base_url)
    except BadBaseUrl as fault:
        if not fault.secret:
            return base_url
        rest = base_url.strip().partition("?")[0]
        scheme, mark, after = rest.partition("://")
        authority, slash, path = after.partition("/")
        return f"{scheme}{mark}{authority.rpartition('@')[2]}{slash}{path}"
    return base_url


def _origin(text: str) -> str:
    if text.startswith("/") and not text.startswith("//"):
        return OWN_HOST
    if not _SCHEME.match(text):
        raise BadBaseUrl("The base URL must begin with https:// or http://.")
    match = _WEB.match(text)
    if match is None:
        raise BadBaseUrl("The base URL names no host that can be asked, such as https://host/v1.")
    if match["user"] is not None:
        raise BadBaseUrl(
            "The base URL holds a user name or a password before the @. Take them out; "
            "the API key has a field of its own.",
            secret=True,
        )
    scheme, host = match["scheme"].lower(), match["host"].lower()
    port = int(match["port"] or _DEFAULT_PORTS[scheme])
    return f"{scheme}://{host}" + ("" if port == _DEFAULT_PORTS[scheme] else f":{port}")


def _refuse_secrets(query: str) -> None:
    for name, value in parse_qsl(query, keep_blank_values=True):
        if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value) or _SECRET_VALUE.search(name):
            raise BadBaseUrl(
                "What follows the ? in the base URL looks like a key. Take it out; "
                "the API key has a field of its own.",
                secret=True,
            )


@dataclass(frozen=True, slots=True)
class Credentials:
    """The keys there are. A value: ``entered`` gives a new one."""

    _keys: Mapping[str, str] = field(default_factory=dict, repr=False)

    def entered(self, key: str, base_url: str) -> Credentials:
        """With ``key`` for the origin of ``base_url``, in the place of the one before."""
        return Credentials({**self._keys, origin_of(base_url): key.strip()})

    def key_for(self, url: str) -> str:
        """The key that a request to ``url`` carries; empty when none was entered for there."""
        origin = origin_of(url)
        return self._keys.get(origin, "") if origin else ""

    @property
    def by_origin(self) -> dict[str, str]:
        """For who stores them; a key that was taken away is an empty text."""
        return dict(self._keys)

    def __bool__(self) -> bool:
        return any(self._keys.values())

    def hidden(self, text: str) -> str:
        """``text`` without any of the keys and without long parts of one."""
        for key in self._keys.values():
            text = hide(text, key)
        return text


def hide(text: str, secret: str) -> str:
    """``text`` without ``secret`` and without long parts of it."""
    if len(secret) < _SHORTEST:
        return text
    text = text.replace(secret, HIDDEN)
    runs = (secret[start : start + _RUN] for start in range(len(secret) - _RUN + 1))
    found = [run for run in runs if run in text]
    if not found:
        return text
    covered = bytearray(len(text))
    for run in found:
        start = text.find(run)
        while start >= 0:
            covered[start : start + _RUN] = b"\1" * _RUN
            start = text.find(run, start + 1)
    return re.sub(
        "\1+", HIDDEN, "".join("\1" if hit else c for c, hit in zip(text, covered, strict=True))
    )
