"""A model provider on loopback, in a thread of its own, that sends what a script says."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import uvicorn

from tests.provider.app import Answer, Recorded, State, make_app
from tests.provider.turns import Turn, file

PATIENCE = 60
"""Seconds that anything may take on a slow machine that is busy."""


class ModelProvider:
    """Starts on a free port; ``with ModelProvider() as provider:`` stops it again.

    ``base_url`` goes into the player's settings; ``url`` is the origin. Beside
    ``/v1/chat/completions`` and ``/v1/models`` it serves what ``serve`` was given, which makes a
    second provider the "other origin" of a test.
    """

    def __init__(self) -> None:
        self._state = State()
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.base_url = f"{self.url}/v1"
        self._server = uvicorn.Server(
            uvicorn.Config(
                make_app(self._state),
                log_config=None,
                log_level="critical",
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    def __enter__(self) -> ModelProvider:
        self._thread.start()
        _wait(lambda: self._server.started, "the provider has not started")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._state.released = True
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()

    def script(self, *answers: Answer) -> None:
        """The answers to the next chat requests, one each; replaces what was left."""
        self._state.script[:] = answers

    def always(self, answer: Answer | None) -> None:
        """The answer once the script is spent; None (as at first) is an error 400."""
        self._state.default = answer

    def serve(
        self,
        path: str,
        content: bytes | Turn,
        media_type: str = "application/zip",
        *,
        cors: bool = True,
    ) -> str:
        """Answers GET ``path`` with ``content``; returns the URL. ``cors=False``: without CORS."""
        self._state.files[path] = (
            content if isinstance(content, Turn) else file(content, media_type)
        )
        (self._state.no_cors.discard if cors else self._state.no_cors.add)(path)
        return self.url + path

    def set_cors(self, allowed: bool) -> None:
        """Whether web pages of other origins may read the answers; they may at first."""
        self._state.cors = allowed

    def set_models(self, *names: str) -> None:
        self._state.models[:] = names

    def release(self) -> None:
        """Lets every stalled response go on."""
        self._state.released = True

    def reset(self) -> None:
        """Forgets script, files, requests and settings, for the next test."""
        self._state.__dict__.update(State().__dict__)

    @property
    def requests(self) -> list[Recorded]:
        """All requests so far but preflights, oldest first."""
        return list(self._state.requests)

    @property
    def chats(self) -> list[Recorded]:
        """The chat requests so far, oldest first."""
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]

    def wait_for_chats(self, count: int) -> list[Recorded]:
        _wait(lambda: len(self.chats) >= count, f"no {count} chat requests")
        return self.chats

    def wait_until_left(self, chat: int = -1) -> None:
        """Waits until the client has closed the connection of a chat request early."""
        _wait(lambda: self.chats[chat].ended == "left", "the client has not left")

    def last_messages(self) -> list[dict[str, Any]]:
        """The messages of the newest chat request."""
        messages: list[dict[str, Any]] = self.chats[-1].body["messages"]
        return messages


def _wait(condition: Callable[[], bool], failure: str) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError(f"{failure} within {PATIENCE} s")
        time.sleep(0.01)
