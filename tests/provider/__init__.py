"""A scripted model provider for end-to-end tests: ``from tests.provider import ...``.

In a conftest.py::

    from tests.provider.fixtures import provider, running_provider  # noqa: F401

In a test::

    provider.script(calls(("roll_dice", {"sides": 20})), says("You rolled a 17."))
    # ... point the player at provider.base_url, send a message ...
    assert provider.chats[0].body["tools"]
"""

from tests.provider.app import Recorded
from tests.provider.server import ModelProvider
from tests.provider.turns import (
    DONE,
    KEEP_ALIVE,
    Pause,
    Reset,
    Stall,
    Turn,
    calls,
    chunk,
    error,
    event,
    file,
    json_body,
    page,
    reply_json,
    says,
    stream,
)

__all__ = [
    "DONE",
    "KEEP_ALIVE",
    "ModelProvider",
    "Pause",
    "Recorded",
    "Reset",
    "Stall",
    "Turn",
    "calls",
    "chunk",
    "error",
    "event",
    "file",
    "json_body",
    "page",
    "reply_json",
    "says",
    "stream",
]
