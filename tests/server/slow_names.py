"""``python -m tests.server.slow_names``: the server, where names under ``tarpit.test`` take long.

No other name is known: nothing is asked of a resolver.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
import time
from typing import Any

SECONDS = 30.0
_real = socket.getaddrinfo


def getaddrinfo(host: Any, *more: Any, **options: Any) -> Any:
    text = host.decode() if isinstance(host, bytes) else host
    try:
        ipaddress.ip_address(text or "0.0.0.0")
    except ValueError:
        if text.endswith(".tarpit.test"):
            time.sleep(SECONDS)
        raise socket.gaierror("unknown") from None
    return _real(host, *more, **options)


# Helper processes import this module again under another name.
if __name__ == "__main__":
    from personae_server.cli import main

    socket.getaddrinfo = getaddrinfo
    sys.exit(main())
