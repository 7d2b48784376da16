"""What the guard library does by itself: why ``fetch`` gives it judged addresses, never names.

If one of these fails after an update, the library has changed and our part may be able to shrink.
"""

from __future__ import annotations

import asyncio
import ipaddress

import httpx
import pytest
from httpx_secure import SSRFProtectionError, httpx_ssrf_protection
from personae_server.guard import is_public

from tests.server.support import answering, raw_upstream


@pytest.mark.parametrize("host", ["127.0.0.1", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254"])
async def test_it_refuses_private_literals_without_connecting(host: str) -> None:
    async with httpx.AsyncClient(trust_env=False) as client:
        httpx_ssrf_protection(client)
        with pytest.raises(SSRFProtectionError):
            await client.get(f"http://{host}/")


async def test_it_connects_to_a_name_before_it_judges_the_address() -> None:
    connected = asyncio.Event()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()

    async with raw_upstream(handle) as port, httpx.AsyncClient(trust_env=False) as client:
        httpx_ssrf_protection(client)
        with pytest.raises(SSRFProtectionError):
            await client.get(f"http://localhost:{port}/")
        async with asyncio.timeout(2):
            await connected.wait()


async def test_a_closed_inner_port_looks_different_from_an_open_one_to_it() -> None:
    async with raw_upstream(answering()) as port:
        pass
    async with httpx.AsyncClient(trust_env=False) as client:
        httpx_ssrf_protection(client)
        with pytest.raises(httpx.ConnectError) as caught:
            await client.get(f"http://localhost:{port}/")
    assert not isinstance(caught.value, SSRFProtectionError)


@pytest.mark.parametrize(
    "text", ["168.63.129.16", "2002:7f00:1::", "2607:f8b0::5efe:10.0.0.1", "192.88.99.1"]
)
def test_what_the_standard_library_calls_global_and_we_do_not(text: str) -> None:
    address = ipaddress.ip_address(text)
    assert address.is_global and not is_public(address)
