"""The host's own sign-in: an ASGI callable that names the user or refuses.

It is called with each relayed request's scope and an empty body. To let the request through it
sets ``scope["user"]`` to the user's name, a text, and sends nothing. To refuse it sends a
response (a 401, a redirect), which the client gets as it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from personae.errors import UsageError
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.importer import ImportFromStringError, import_from_string

from personae_server.errors import HttpError
from personae_server.rates import client_of

SignIn = Callable[[Scope, Receive, Send], Awaitable[str | None]]


async def by_address(scope: Scope, receive: Receive, send: Send) -> str | None:
    """Without a sign-in, a client is its address."""
    return client_of(scope)


def sign_in_with(name: str) -> SignIn:
    """The sign-in of ``package.module:name``. Raises UsageError (``sign_in_missing``)."""
    try:
        hook: ASGIApp = import_from_string(name)
    except ImportFromStringError as error:
        raise UsageError("sign_in_missing", f"relay_sign_in is {name!r}: {error}") from error

    async def sign_in(scope: Scope, receive: Receive, send: Send) -> str | None:
        """The user's name, or None when the hook has answered. Raises HttpError."""
        asked = {**scope, "state": dict(scope.get("state", {}))}
        answered = False

        async def answer(message: Message) -> None:
            nonlocal answered
            answered = True
            await send(message)

        await hook(asked, _no_body, answer)
        if answered:
            return None
        user = asked.get("user")
        if not isinstance(user, str) or not user:
            raise HttpError(401, "sign_in_needed", "Sign in to use this host's models.")
        return f"user:{user}"

    return sign_in


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}
