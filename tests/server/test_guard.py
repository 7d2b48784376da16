"""The address guard: what is public, which URLs are tried, how names are judged."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from personae_server.errors import HttpError
from personae_server.guard import Guard, Target, is_public, port_of
from personae_server.resolver import Resolver

NOT_PUBLIC = [
    # this host, private, carrier, loopback, link-local and cloud metadata
    *("0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1"),
    *("127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255"),
    *("192.168.1.1", "192.0.0.192", "168.63.129.16"),
    # documentation, benchmarking, 6to4 relays, multicast, reserved, broadcast
    *("192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255"),
    *("192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
    # IPv6: unspecified, loopback, link-local, site-local, unique local, metadata, multicast
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1"),
    # documentation, discard, benchmarking, ORCHID, Teredo, segment routing
    *("2001:db8::1", "3fff::1", "100::1", "2001:2::1", "2001:10::1", "2001::1", "5f00::1"),
    # carrying an IPv4 address: mapped, compatible, translated, NAT64, 6to4, ISATAP
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::10.0.0.1"),
    *("2002:7f00:1::", "2002:a00:1::1", "2607:f8b0::5efe:10.0.0.1", "2607:f8b0::200:5efe:a00:1"),
]
PUBLIC = [
    *("1.1.1.1", "8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "192.0.3.1"),
    *("2606:4700::1111", "2a00:1450:4001::5e", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"),
]


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_not_public(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@given(st.ip_addresses(v=4))
def test_a_wrapped_address_is_never_more_public_than_the_address(
    address: ipaddress.IPv4Address,
) -> None:
    wrapped = [f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}", f"64:ff9b:1::{address}"]
    for text in wrapped:
        assert not is_public(ipaddress.ip_address(text)) or is_public(address)


@given(st.ip_addresses())
def test_nothing_the_standard_library_calls_private_is_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    plain = getattr(address, "ipv4_mapped", None) or address
    private = plain.is_private or plain.is_multicast or plain.is_loopback or plain.is_link_local
    assert not (is_public(address) and private)


SPELLINGS = [
    *("http://127.0.0.1/", "http://127.1/", "http://0/", "http://2130706433/"),
    *("http://0x7f000001/", "http://0x7f.1/", "http://017700000001/"),
    *("http://localhost/", "http://LOCALHOST/", "http://[::1]/", "http://[::]/"),
    *("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:0:0:1]/"),
    *("http://[64:ff9b::7f00:1]/", "http://[::127.0.0.1]/", "http://[2002:7f00:1::]/"),
    *("http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://[fd00:ec2::254]/"),
]


async def resolved(guard: Guard, url: httpx.URL) -> Target:
    host = url.raw_host.decode()
    return guard.judge(url, await Resolver().look_up(host, port_of(url), "client"))


@pytest.mark.parametrize("text", SPELLINGS)
async def test_every_spelling_of_a_private_address_is_blocked(text: str) -> None:
    guard = Guard()
    with pytest.raises(HttpError) as caught:
        await resolved(guard, guard.check_url(text))
    assert (caught.value.status, caught.value.code) == (403, "address_blocked")
    assert "blocked" in caught.value.message


@pytest.mark.parametrize("text", ["http://127.0.0.1./", "http://localhost./", "http://[::1].:80/"])
async def test_a_trailing_dot_leads_nowhere_private(text: str) -> None:
    """Resolvers differ here: they find the private address, or nothing."""
    guard = Guard()
    with pytest.raises(HttpError) as caught:
        await resolved(guard, guard.check_url(text))
    assert caught.value.code in ("address_blocked", "host_not_found", "url_invalid")


@pytest.mark.parametrize(
    "text",
    [
        *("", "nonsense", "//host/", "http://", "http:///path", "http:host", "http://[::1", "/a"),
        *("http://user@host/", "http://user:pw@host/", "http://@host/", "http://a@b@host/"),
        *("http://host\\@127.0.0.1/", "http://host/\\x", "http:\\\\host\\", "http://a%2eb/"),
        *(" http://host/", "http://host/a b", "http://ho st/", "http://host/\n", "http://h\tost/"),
        *("http://[fe80::1%25eth0]/", "http://127.0.0.1%00.example/", "http://%6c/", "http://h:x/"),
        *("http://0177.0.0.1/", "http://①②⑦.⓪.⓪.①/", "http://ⓛocalhost/"),
        *("http://host:80:80/", "http://a..b/", "http://!host/", "http://" + "a" * 3000),
    ],
)
def test_what_two_parsers_could_read_two_ways_is_no_url(text: str) -> None:
    with pytest.raises(HttpError) as caught:
        Guard().check_url(text)
    assert (caught.value.status, caught.value.code) == (400, "url_invalid")
    assert "not a valid URL" in caught.value.message


@pytest.mark.parametrize(
    "text", ["file:///etc/passwd", "ftp://a.example/", "gopher://a/", "data:,a", "javascript:1"]
)
def test_only_http(text: str) -> None:
    with pytest.raises(HttpError, match=r"only http\(s\)") as caught:
        Guard().check_url(text)
    assert caught.value.code == "url_scheme"


def test_an_international_name_is_sent_as_its_ascii_form() -> None:
    url = Guard().check_url("https://bücher.example/a?b#part")
    assert str(url) == "https://xn--bcher-kva.example/a?b"


@pytest.mark.parametrize("port", ["8080", "22", "0", "81", "99999"])
def test_other_ports_are_blocked(port: str) -> None:
    with pytest.raises(HttpError) as caught:
        Guard().check_url(f"http://a.example:{port}/")
    assert caught.value.code == "port_blocked"


def test_the_operator_may_open_a_port() -> None:
    assert Guard(ports=(8443,)).check_url("https://a.example:8443/").port == 8443


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("zips.example", True),
        ("ZIPS.example.", True),
        ("a.b.cdn.example", True),
        ("cdn.example", False),
        ("evilcdn.example", False),
        ("zips.example.evil.test", False),
    ],
)
def test_the_operator_may_restrict_hosts(host: str, allowed: bool) -> None:
    guard = Guard(hosts=("zips.example", "*.cdn.example"))
    if allowed:
        guard.check_url(f"https://{host}/")
        return
    with pytest.raises(HttpError) as caught:
        guard.check_url(f"https://{host}/")
    assert caught.value.code == "host_not_allowed"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Scripts name resolution: each look-up takes the next list of addresses."""
    script: list[list[str]] = []

    def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        if not script:
            raise socket.gaierror("unknown")
        return [(0, 0, 0, "", (address, 0)) for address in script.pop(0)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return script


async def test_one_private_address_among_public_ones_refuses_the_name(
    answers: list[list[str]],
) -> None:
    guard = Guard()
    answers.append(["93.184.215.14", "10.0.0.7"])
    with pytest.raises(HttpError) as caught:
        await resolved(guard, guard.check_url("https://mixed.example/"))
    assert caught.value.code == "address_blocked"
    assert "10.0.0.7" not in caught.value.message


async def test_public_answers_are_all_kept(answers: list[list[str]]) -> None:
    guard = Guard()
    answers.append(["2606:4700::1111", "1.1.1.1", "1.1.1.1"])
    target = await resolved(guard, guard.check_url("https://good.example/"))
    assert target.addresses == ("2606:4700::1111", "1.1.1.1")


async def test_an_unknown_name_says_so(answers: list[list[str]]) -> None:
    guard = Guard()
    with pytest.raises(HttpError) as caught:
        await resolved(guard, guard.check_url("https://nowhere.example/"))
    assert (caught.value.status, caught.value.code) == (502, "host_not_found")


async def test_the_operator_may_open_a_network(answers: list[list[str]]) -> None:
    guard = Guard(networks=(ipaddress.ip_network("10.1.0.0/16"),))
    answers += [["10.1.2.3"], ["10.2.0.1"], ["::ffff:a01:203"]]
    url = guard.check_url("http://intranet/")
    assert (await resolved(guard, url)).addresses == ("10.1.2.3",)
    with pytest.raises(HttpError):
        await resolved(guard, url)
    assert (await resolved(guard, url)).addresses == ("::ffff:a01:203",)


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_a_refusal(text: str) -> None:
    for candidate in (text, f"http://{text}", f"https://a.example/{text}"):
        try:
            url = Guard().check_url(candidate)
        except HttpError:
            continue
        assert url.scheme in ("http", "https") and url.host and not url.userinfo
