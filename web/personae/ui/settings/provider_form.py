"""The settings' part about the provider: what is entered, taken and asked. Pure.

Invariants: a base URL counts when its field is left, never while it is typed; a key is typed for
the base URL that counts, and belongs to its origin; a request is made when the user leaves a field
or presses a button, and carries the key of the origin it goes to; choosing another provider and
coming back finds what was entered; a provider has a model before the user is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from personae.credentials import read_base_url
from personae.errors import ModelError, PersonaeError
from personae.llm.provider.client import ChatClient
from personae.llm.provider.endpoint import Endpoint
from personae.llm.request.body import build_body, user_message
from personae.llm.stream.reply import Waiting
from personae.settings import REHEARSAL
from personae.ui.settings.app_settings import Choice, Settings
from personae.ui.settings.default_model import first_suitable
from personae.ui.settings.providers import RELAY, complaint, explain_failure, preset, preset_of


class ProviderForm:
    """``changed`` hears of new settings, ``redraw`` that there is something else to show."""

    models: tuple[str, ...] = ()
    note = ""
    """About the list of models."""

    def __init__(
        self,
        client: ChatClient,
        changed: Callable[[Settings], object],
        redraw: Callable[[], object],
        *,
        relay_url: str = "",
        page_is_secure: bool = False,
    ) -> None:
        self._client, self._changed, self._redraw = client, changed, redraw
        self._relay_url, self._page_is_secure = relay_url, page_is_secure
        self._asked = 0
        self._listing: asyncio.Future[None] | None = None
        self._listed: dict[tuple[str, str], tuple[str, ...]] = {}
        """The models that a base URL listed for a key."""
        self._drafts: dict[str, str] = {}
        """Preset id -> a base URL that could not be taken."""
        self.show(Settings())

    def show(self, settings: Settings) -> None:
        """Begins anew with ``settings``."""
        self.settings = settings
        self.chosen = preset_of(settings.base_url, settings.model, self._relay_url)
        self.draft = settings.base_url
        self._forget_models()

    @property
    def complaint(self) -> str:
        """What is wrong with the base URL as it is typed."""
        return complaint(self.draft)

    @property
    def key(self) -> str:
        """The key of the base URL as it is typed."""
        return self.settings.keys.key_for(self.draft)

    @property
    def takes_key(self) -> bool:
        """Whether there is a base URL that a key could belong to."""
        return bool(self.draft.strip()) and not self.complaint

    # What the user does

    def take(self, settings: Settings) -> None:
        """Settings of which anything but the base URL and the keys may have changed."""
        if settings != self.settings:
            self.settings = settings
            self._changed(settings)

    def type_base_url(self, text: str) -> None:
        self.draft = text
        self._forget_models()

    def leave_base_url(self) -> bool:
        """Takes the base URL as it was typed; whether it is another one now."""
        if self.complaint:
            return False
        text = self.draft.strip()
        if text:
            read = read_base_url(text)
            text = read.address + read.query
        self.draft = text
        if text == self.settings.base_url:
            return False
        now = preset_of(text, self.settings.model, self._relay_url)
        kept = self._with_entered() if now != self.chosen else self.settings
        self.chosen = now
        self.take(replace(kept, base_url=text))
        return True

    def type_key(self, text: str) -> None:
        """A key, for the origin of the base URL; without one it belongs nowhere."""
        self.leave_base_url()
        if self.takes_key:
            self._forget_models()
            self.take(self.settings.with_key(text))

    def keep_key(self, on_device: bool) -> None:
        self.leave_base_url()
        if self.takes_key:
            self.take(self.settings.keeping(on_device))

    def choose(self, preset_id: str) -> None:
        """Another provider, with what was entered for it before, its own key or none."""
        self.leave_base_url()
        settings = self._with_entered()
        if self.complaint:
            self._drafts[self.chosen] = self.draft
        found = preset(preset_id)
        url = self._relay_url if preset_id == RELAY else found.base_url
        before = settings.providers.get(preset_id, Choice(url))
        model = REHEARSAL if preset_id == REHEARSAL else before.model
        self.chosen = preset_id
        self.take(
            replace(
                settings,
                base_url=url or ("" if preset_id == REHEARSAL else before.base_url),
                model=model,
                worker_model=before.worker_model,
            )
        )
        self.draft = self._drafts.pop(preset_id, self.settings.base_url)
        self._forget_models()

    def _with_entered(self) -> Settings:
        """The settings, with what they hold for the chosen provider kept for later."""
        now = self.settings
        entered = Choice(now.base_url, now.model, now.worker_model)
        return replace(now, providers={**now.providers, self.chosen: entered})

    # What the provider is asked

    async def list_models(self) -> None:
        """Asks for the models, once, at the base URL that counts."""
        self.leave_base_url()
        self._forget_models()
        if not self.settings.base_url or self.complaint:
            return
        asked = self._asked, self._source, self._endpoint(self.settings)
        self._say("Asking the provider for its models…")
        self._listing = asyncio.ensure_future(self._list_models(*asked))
        await self._listing

    async def finish(self) -> bool:
        """Whether the user can be done: the base URL counts, and a provider has a model.

        One that has none is asked for its list.
        """
        self.leave_base_url()
        if self.settings.lacks_model and not self.complaint:
            under_way = self._listing is not None and not self._listing.done()
            await (self._listing if under_way and self._listing else self.list_models())
        if self.settings.lacks_model and not self.complaint:
            self._say(f"Type the name of a main model. {self.note}".strip())
        return not self.complaint and not self.settings.lacks_model

    async def _list_models(self, number: int, source: tuple[str, str], endpoint: Endpoint) -> None:
        try:
            listed = await self._client.list_models(endpoint)
        except PersonaeError as error:
            note = f"No list of models: {self._explain(error, endpoint)} You can type a name."
        else:
            models = tuple(sorted(listed, key=str.lower))
            self._listed[source] = models
            note = f"{len(models)} models to choose from, or type a name."
            if number == self._asked:
                note = self._take_first(listed, note)
        if number == self._asked:
            self.models = self._listed.get(source, ())
            self._say(note)

    async def test(self) -> tuple[str, str]:
        """``good`` or ``bad``, and a sentence: whether the main model answers."""
        self.leave_base_url()
        settings = self.settings
        if self.complaint:
            return "bad", self.complaint
        if settings.rehearsing:
            return "good", "The rehearsal model is always there."
        if settings.lacks_model:
            return "bad", "Choose a main model first."
        endpoint = replace(self._endpoint(settings), model=settings.model)
        try:
            await self._ask(endpoint)
        except PersonaeError as error:
            return "bad", self._explain(error, endpoint)
        return "good", f"{settings.model} answers."

    async def _ask(self, endpoint: Endpoint) -> None:
        """One small request, streamed and waited for as a chat's is. Raises ModelError.

        What the model was known to refuse is tried again: its server may be another by now.
        """
        body = build_body([user_message("Say OK.")])
        self._client.forget(endpoint)
        try:
            async with aclosing(self._client.stream(endpoint, body, retries=0)) as events:
                async for event in events:
                    if not isinstance(event, Waiting):
                        return
        except ModelError as error:
            if error.code != "model_empty_reply":
                raise

    def _endpoint(self, settings: Settings) -> Endpoint:
        return Endpoint(settings.base_url, settings.keys, "")

    def _explain(self, error: PersonaeError, endpoint: Endpoint) -> str:
        return explain_failure(
            error,
            endpoint.base_url,
            keyed=bool(endpoint.credentials.key_for(endpoint.base_url)),
            page_is_secure=self._page_is_secure,
            relay=bool(self._relay_url),
        )

    def _forget_models(self) -> None:
        """Shows what was listed here before; an answer that is still under way comes too late."""
        self._asked += 1
        self.models, self.note = (), ""
        if self.draft == self.settings.base_url:
            self.models = self._listed.get(self._source, ())

    @property
    def _source(self) -> tuple[str, str]:
        return self.settings.base_url, self.settings.api_key

    def _say(self, note: str) -> None:
        self.note = note
        self._redraw()

    def _take_first(self, listed: Sequence[str], note: str) -> str:
        """A provider always has a model: its first suitable one, until the user says another."""
        first = first_suitable(listed) if self.settings.lacks_model else ""
        if not first:
            return note
        self.take(replace(self.settings, model=first))
        return f"{first} was chosen as the main model. {note}"
