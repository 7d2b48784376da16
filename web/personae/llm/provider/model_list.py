"""Lists the models a provider offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from personae.bounded_json import load_json
from personae.errors import ModelError
from personae.llm.provider import faults
from personae.llm.provider.attempt import located
from personae.llm.provider.endpoint import Endpoint
from personae.llm.provider.http_exchange import PATIENCE, Exchange, Silence
from personae.llm.provider.refusal import RefusalBody
from personae.ports import Clock, ModelTransport
from personae.unicode import well_formed


async def list_models(transport: ModelTransport, clock: Clock, endpoint: Endpoint) -> list[str]:
    """The ids in the provider's order. One request, never repeated; raises ModelError."""
    try:
        return _ids(await _fetch(transport, clock, endpoint), endpoint.models_url)
    except ModelError as error:
        raise located(error, endpoint) from None


async def _fetch(transport: ModelTransport, clock: Clock, endpoint: Endpoint) -> bytes:
    pieces: list[bytes] = []
    refusal: RefusalBody | None = None
    async with Exchange(transport, clock, endpoint.models_request()) as exchange:
        while (item := await exchange.get()) is not None:
            if isinstance(item, Silence):
                raise faults.stalled(PATIENCE)
            if isinstance(item, bytes):
                pieces.append(item)
            elif not 200 <= item.status <= 299:
                refusal = RefusalBody(item, endpoint.models_url, clock.now())
    data = b"".join(pieces)
    if refusal is not None:
        refusal.feed(data)
        refusal.finish()
    return data


def _ids(data: bytes, url: str) -> list[str]:
    text = data.decode("utf-8-sig", "replace").strip()
    if text.startswith("<"):
        raise faults.web_page(200, url, text)
    try:
        listed = load_json(text)
    except ValueError:
        raise faults.not_json(200, url, text) from None
    if isinstance(listed, Mapping):
        faults.raise_for_error_object(listed)
        listed = listed.get("data") or listed.get("models") or []
    ids = [_id(model) for model in listed] if isinstance(listed, list) else []
    return list(dict.fromkeys(id_ for id_ in ids if id_))


def _id(model: Any) -> str:
    if isinstance(model, Mapping):
        model = model.get("id") or model.get("name") or model.get("model")
    return well_formed(model).strip() if isinstance(model, str) else ""
