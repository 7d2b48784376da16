"""One request to a model endpoint and its answer, as events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import replace
from typing import Any

from personae.errors import ModelError
from personae.llm.provider import faults
from personae.llm.provider.endpoint import Endpoint
from personae.llm.provider.http_exchange import Exchange, Silence
from personae.llm.provider.refusal import RefusalBody
from personae.llm.request.body import call_ids
from personae.llm.request.token_estimate import usage_or_estimate
from personae.llm.stream.reply import Event, Reply, Waiting
from personae.llm.stream.response_body import ReplyBody
from personae.ports import Clock, HttpResponse, ModelTransport


async def attempt(
    transport: ModelTransport,
    clock: Clock,
    endpoint: Endpoint,
    sent: Mapping[str, Any],
    number: int,
    taken: Collection[str] = (),
) -> AsyncGenerator[Event, None]:
    """Sends ``sent`` once; deltas, Waiting while nothing comes, and the Reply last.

    ``number``: which attempt this is, from 1. ``taken``: tool-call ids the reply must avoid,
    beside those it was sent. Raises ModelError, with the key taken out.
    """
    try:
        body: ReplyBody | RefusalBody | None = None
        async with Exchange(transport, clock, endpoint.chat_request(sent)) as exchange:
            while (item := await exchange.get()) is not None:
                if isinstance(item, Silence):
                    message = faults.silence_message(item.lasted)
                    yield Waiting(item.gives_up_in, "model_stalled", number, message)
                elif not isinstance(item, bytes):
                    body = _body(item, endpoint, clock, {*taken, *call_ids(sent["messages"])})
                elif body is not None:
                    for delta in body.feed(item):
                        yield delta
                    if body.done:
                        break
                    if body.finished:
                        exchange.expect_end()
        if body is not None:
            for last in body.finish():
                yield _told(last, sent, endpoint) if isinstance(last, Reply) else last
    except ModelError as error:
        raise located(error, endpoint) from None


def located(error: ModelError, endpoint: Endpoint) -> ModelError:
    """The error with the address it happened at, and without the key."""
    detail = {name: _hidden(value, endpoint) for name, value in error.detail.items()}
    message = endpoint.hidden(error.message)
    if error.code == "model_unreachable" and endpoint.credentials.key_for(endpoint.chat_url):
        # A browser does not show a refusal that lacks CORS headers: it looks like no answer.
        message = f"{faults.MAYBE_THE_KEY} {message}"
    return ModelError(error.code, message, **{**detail, "url": endpoint.chat_url})


def _body(
    response: HttpResponse, endpoint: Endpoint, clock: Clock, taken: set[str]
) -> ReplyBody | RefusalBody:
    if not 200 <= response.status <= 299:
        return RefusalBody(response, endpoint.chat_url, clock.now())
    return ReplyBody(endpoint.chat_url, response.status, taken)


def _told(reply: Reply, sent: Mapping[str, Any], endpoint: Endpoint) -> Reply:
    """The reply with what it cost and whose it is."""
    calls = (*reply.tool_calls, *reply.cut_calls)
    written = [reply.text, reply.reasoning or "", *(call.name + call.arguments for call in calls)]
    usage = usage_or_estimate(reply.usage, sent, written)
    return replace(reply, usage=usage, source=endpoint.mark)


def _hidden(value: Any, endpoint: Endpoint) -> Any:
    if isinstance(value, str):
        return endpoint.hidden(value)
    if isinstance(value, dict):
        return {name: _hidden(item, endpoint) for name, item in value.items()}
    if isinstance(value, list):
        return [_hidden(item, endpoint) for item in value]
    return value
