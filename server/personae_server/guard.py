"""Which addresses the server may fetch from: the guard against server-side request forgery.

Invariants: a URL is judged by the addresses its host resolves to, never by its spelling; one
non-public address among several refuses the whole name; the connection goes to an address that
was judged, not to the name again. IPv6 is public only inside 2000::/3, with the forms that
carry an IPv4 address judged by that address or refused.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass

import httpx

from personae_server.errors import HttpError
from personae_server.settings import Network

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

MAX_URL = 2048
_LITERAL_V6 = re.compile(r"[0-9a-f:.]+")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")

# IANA's special-purpose registries, multicast, and 168.63.129.16: Azure's platform service
# answers there, on an address that looks public.
_SPECIAL_V4 = [
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        "168.63.129.16/32",
    )
]  # fmt: skip
_UNICAST_V6 = ipaddress.IPv6Network("2000::/3")
# Protocol assignments (Teredo, ORCHID, benchmarking), documentation, 6to4, segment routing.
_SPECIAL_V6 = [
    ipaddress.IPv6Network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16")
]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether ``address`` is an ordinary host of the public internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not any(address in each for each in _SPECIAL_V4)
    if address.ipv4_mapped is not None:
        return is_public(address.ipv4_mapped)
    if address in _NAT64:
        return is_public(ipaddress.IPv4Address(address.packed[-4:]))
    return (
        address in _UNICAST_V6
        and address.is_global
        and address.scope_id is None
        and not any(address in each for each in _SPECIAL_V6)
        # ISATAP: an IPv4 address inside the interface identifier.
        and address.packed[8:12] not in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe")
    )


@dataclass(frozen=True, slots=True)
class Target:
    """A URL whose host was judged: connect to one of ``addresses`` only."""

    url: httpx.URL
    host: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guard:
    """The operator's rules on top of "public addresses only"."""

    hosts: tuple[str, ...] = ()
    """Names that may be fetched from; empty: all. ``*.example.com`` is every name below."""
    ports: tuple[int, ...] = (80, 443)
    networks: tuple[Network, ...] = ()
    """Non-public networks that are allowed all the same."""

    def allows(self, address: Address) -> bool:
        plain = getattr(address, "ipv4_mapped", None) or address
        return is_public(address) or any(plain in network for network in self.networks)

    def check_url(self, text: str) -> httpx.URL:
        """``text`` as a URL this server may try; refuses what two parsers could read two ways.

        Raises HttpError: url_invalid, url_scheme, host_not_allowed, port_blocked.
        """
        url = _parsed(text)
        host = url.raw_host.decode("ascii").rstrip(".")
        if self.hosts and not any(_matches(host, pattern) for pattern in self.hosts):
            raise HttpError(403, "host_not_allowed", f"This server does not fetch from {host}.")
        port = port_of(url)
        if port not in self.ports:
            raise HttpError(403, "port_blocked", f"Port {port} is blocked on this server.")
        return url

    def judge(self, url: httpx.URL, addresses: Sequence[Address]) -> Target:
        """``url`` with what its host resolves to, once every address has been judged.

        Raises HttpError: address_blocked (which never names the address).
        """
        host = url.raw_host.decode("ascii")
        if not all(self.allows(address) for address in addresses):
            raise HttpError(
                403, "address_blocked", f"{host} is blocked: its address is not public."
            )
        return Target(url, host, tuple(map(str, addresses)))


def port_of(url: httpx.URL) -> int:
    if url.port is not None:
        return url.port
    return 443 if url.scheme == "https" else 80


def _parsed(text: str) -> httpx.URL:
    if not text or len(text) > MAX_URL or "\\" in text or re.search(r"[\s\x00-\x20\x7f]", text):
        raise _not_a_url()
    try:
        url = httpx.URL(text)
    except (httpx.InvalidURL, ValueError) as error:
        raise _not_a_url() from error
    if not url.scheme:
        raise _not_a_url()
    if url.scheme not in ("http", "https"):
        raise HttpError(
            400,
            "url_scheme",
            "The address has to begin with http: or https: (only http(s) is fetched).",
        )
    host = url.raw_host.decode("ascii")
    shape = _LITERAL_V6 if ":" in host else _NAME
    # A userinfo part ("name@") or an odd character in the host is how one URL names two hosts.
    authority = text.split("//", 1)[-1].split("/", 1)[0].split("?", 1)[0].split("#", 1)[0]
    if url.userinfo or "@" in authority or "%" in authority or not shape.fullmatch(host):
        raise _not_a_url()
    return url.copy_with(fragment=None)


def _not_a_url() -> HttpError:
    return HttpError(400, "url_invalid", "That is not a valid URL: give a plain http(s) address.")


def _matches(host: str, pattern: str) -> bool:
    pattern = pattern.lower().rstrip(".")
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern
