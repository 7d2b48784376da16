"""Talks to chat-completions endpoints: retries, provider quirks, cancellation.

The one client for all who ask a provider: players, and the settings' list of models and test.
Invariants: a request is sent again only while nothing of the reply has been passed on, and
every wait is announced; cancelling at any point, or closing the iterator, closes the response
at once; a key appears in no event and no error.
"""

from __future__ import annotations

import random as _random
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping
from contextlib import aclosing
from typing import Any

from personae.errors import ModelError
from personae.llm.provider import model_list as models
from personae.llm.provider import quirks
from personae.llm.provider.attempt import attempt
from personae.llm.provider.endpoint import Endpoint
from personae.llm.provider.remedies import remedy
from personae.llm.provider.retry import MAX_RETRIES, wait_before_retry
from personae.llm.stream.reply import Event, Reply, Waiting, Without
from personae.ports import Clock, ModelTransport


class ChatClient:
    """``memory``: what is known about providers (see ``quirks.py``); a dict, or one that lasts."""

    def __init__(
        self,
        transport: ModelTransport,
        clock: Clock,
        memory: quirks.Memory | None = None,
        random: Callable[[], float] = _random.random,
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._memory: quirks.Memory = {} if memory is None else memory
        self._random = random

    async def stream(
        self,
        endpoint: Endpoint,
        body: Mapping[str, Any],
        taken: Collection[str] = (),
        *,
        retries: int = MAX_RETRIES,
    ) -> AsyncGenerator[Event, None]:
        """Sends ``body`` (see ``request.body.build_body``); the answer's events, a Reply last.

        ``taken``: tool-call ids the reply must avoid, beside those in ``body``. Raises
        ModelError. A loop that may be left early belongs into ``contextlib.aclosing``.
        """
        course = _Course(endpoint, self._memory, self._random, retries)
        while True:
            sent = course.adapt(body)
            started = False
            try:
                number = course.attempt
                events = attempt(self._transport, self._clock, endpoint, sent, number, taken)
                async with aclosing(events):
                    async for event in events:
                        if not started and not isinstance(event, Waiting):
                            started = True
                            for loss in self._learnt(course, endpoint, body):
                                yield loss
                        yield event
                return
            except ModelError as error:
                if started:
                    raise
                waiting = course.after(error, sent)
            if waiting:
                yield waiting
                await self._clock.sleep(waiting.seconds * 1000)

    async def complete(
        self,
        endpoint: Endpoint,
        body: Mapping[str, Any],
        taken: Collection[str] = (),
        *,
        retries: int = MAX_RETRIES,
    ) -> Reply:
        """One call without streaming. Raises ModelError."""
        whole = {name: value for name, value in body.items() if name != "stream_options"}
        sent = whole | {"stream": False}
        async with aclosing(self.stream(endpoint, sent, taken, retries=retries)) as events:
            async for event in events:
                if isinstance(event, Reply):
                    return event
        raise AssertionError("a stream ends with a Reply or an error")

    def forget(self, endpoint: Endpoint) -> None:
        """What the endpoint's model refused is tried again: its server may be another by now."""
        quirks.forget(self._memory, endpoint.base, endpoint.model)

    def _learnt(
        self, course: _Course, endpoint: Endpoint, body: Mapping[str, Any]
    ) -> Iterator[Without]:
        """The provider took the request: what it took it with is kept, and what that costs said."""
        if not course.tried:
            return
        quirks.remember(self._memory, endpoint.base, endpoint.model, course.quirks)
        for name, loss in quirks.losses(course.tried & course.quirks, body).items():
            yield Without(f"{loss} {course.remedies.get(name, '')}".strip())

    async def list_models(self, endpoint: Endpoint) -> list[str]:
        """The ids of the provider's models. Raises ModelError at the first failure."""
        return await models.list_models(self._transport, self._clock, endpoint)


class _Course:
    """What one call has tried so far, and what it does after a failure."""

    def __init__(
        self,
        endpoint: Endpoint,
        memory: quirks.Memory,
        random: Callable[[], float],
        retries: int,
    ) -> None:
        self.attempt = 1
        self._retries = retries
        self._endpoint = endpoint
        self._random = random
        self.quirks = quirks.recall(memory, endpoint.base, endpoint.model)
        self.tried: frozenset[str] = frozenset()
        """The quirks that were learnt, or unlearnt, on the way."""
        self.remedies: dict[str, str] = {}
        """Quirk -> what the refusal that told of it says can be done about it."""

    def adapt(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return quirks.adapt({"model": self._endpoint.model, **body}, self.quirks)

    def after(self, error: ModelError, sent: Mapping[str, Any]) -> Waiting | None:
        """The wait before the next attempt, None to go on at once; raises when it is hopeless."""
        quirk = quirks.learn(error, sent, self.quirks, self.tried)
        if quirk:
            self.tried |= {quirk}
            self.quirks ^= {quirk}
            self.remedies[quirk] = remedy(error)
            return None
        wait = wait_before_retry(error, self.attempt, self._random)
        if wait is None or self.attempt > self._retries:
            raise error
        self.attempt += 1
        return Waiting(wait, error.code, self.attempt - 1, error.message)
