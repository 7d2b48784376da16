"""The user's models: which endpoint a request goes to, with which settings.

The rehearsal model (no AI, no key, no network) is one of them; it is the default.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from typing import Any, Literal

from personae.credentials import Credentials
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.llm.provider.quirks import Memory
from personae.llm.request.body import Sampling, ToolChoice, build_body, call_ids
from personae.llm.request.encoded import Part
from personae.llm.stream.reply import Event, Reply
from personae.package.model import ToolDefinition
from personae.ports import Clock, ModelTransport
from personae.settings import REHEARSAL, Settings

Role = Literal["main", "worker"]


class Models:
    """``memory``: what is known about providers, see ``provider.quirks``."""

    def __init__(
        self,
        transport: ModelTransport,
        clock: Clock,
        settings: Callable[[], Settings],
        memory: Memory | None = None,
    ) -> None:
        self._client = ChatClient(transport, clock, memory)
        self._clock = clock
        self._settings = settings
        self._rehearsal: ChatClient | None = None

    @property
    def main(self) -> str:
        """The main model's id."""
        return self._settings().model_for("main")

    @property
    def source(self) -> str:
        """Who the main model is, as its replies tell it (``Reply.source``)."""
        return self._endpoint("main")[1].mark

    def stream(
        self, messages: Sequence[Part], tools: Sequence[ToolDefinition], *, final: bool = False
    ) -> AsyncGenerator[Event, None]:
        """The main model's answer as it arrives; ``final``: it may not call tools.

        Raises ModelError.
        """
        settings = self._settings()
        body = build_body(
            messages,
            tools=tools,
            tool_choice="none" if final else None,
            sampling=Sampling(settings.temperature, settings.top_p, settings.max_tokens),
        )
        client, endpoint = self._endpoint("main")
        return client.stream(endpoint, body, call_ids(messages))

    def whole_body(
        self,
        messages: Sequence[dict[str, Any]],
        sampling: Sampling,
        tools: Sequence[ToolDefinition] = (),
        *,
        final: bool = False,
    ) -> dict[str, Any]:
        """The body of a request for a whole answer, for ``complete``; ``final`` as for
        ``stream``."""
        choice: ToolChoice | None = "none" if final else None
        return build_body(
            messages, tools=tools, tool_choice=choice, sampling=sampling, stream=False
        )

    async def complete(self, role: Role, body: Mapping[str, Any], taken: Collection[str]) -> Reply:
        """One whole answer of the ``"main"`` or ``"worker"`` model. Raises ModelError.

        ``taken``: ids of calls that its own must differ from.
        """
        client, endpoint = self._endpoint(role)
        return await client.complete(endpoint, body, taken)

    def _endpoint(self, role: Role) -> tuple[ChatClient, Endpoint]:
        settings = self._settings()
        model = settings.model_for(role)
        if model == REHEARSAL:
            return self._rehearse()
        return self._client, Endpoint(settings.base_url, settings.credentials, model)

    def _rehearse(self) -> tuple[ChatClient, Endpoint]:
        from personae.llm.rehearsal import BASE_URL, MODEL, RehearsalTransport

        if self._rehearsal is None:
            self._rehearsal = ChatClient(RehearsalTransport(self._clock), self._clock)
        return self._rehearsal, Endpoint(BASE_URL, Credentials(), MODEL)
