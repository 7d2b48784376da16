"""The settings dialog: every change counts at once; closing it keeps nothing back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import js

from personae.errors import PersonaeError
from personae.ports import ModelTransport
from personae.ui.dom.dispatcher import Dispatcher
from personae.ui.dom.elements import clone, document, part, show
from personae.ui.dom.tasks import Tasks
from personae.ui.dom.templates import load_templates
from personae.ui.settings import providers
from personae.ui.settings.app_settings import Settings, with_field

Changed = Callable[[Settings], Any]
_TYPING_PAUSE = 0.6


class SettingsDialog:
    def __init__(
        self,
        dispatcher: Dispatcher,
        tasks: Tasks,
        transport: ModelTransport,
        host: dict[str, Any],
        changed: Changed,
    ) -> None:
        self._tasks, self._transport, self._host, self._changed = tasks, transport, host, changed
        self._dialog: Any = None
        self._settings = Settings()
        self._character = ""
        self._asked = 0
        dispatcher.on("input", "settings-field", self._typed)
        dispatcher.on(
            "change", "settings-provider", lambda element, _: self._choose(str(element.value))
        )
        dispatcher.on(
            "change", "settings-keep", lambda element, _: self._keep(element.value == "device")
        )
        dispatcher.on(
            "change", "settings-web", lambda element, _: self._set_web(bool(element.checked))
        )
        dispatcher.on("action", "settings-test", lambda *_: self._test())
        dispatcher.on("submit", "close-settings", lambda *_: self._dialog.close())

    async def open(self, settings: Settings, character_id: str, character: str, web: bool) -> None:
        """Shows ``settings``; ``web``: an agent of the character asks for web pages."""
        await load_templates("settings")
        self._settings, self._character = settings, character_id
        if self._dialog is None:
            self._dialog = clone("settings")
            document.body.appendChild(self._dialog)
            self._fill_providers()
        self._fill()
        show(part(self._dialog, "web-row"), web)
        part(self._dialog, "web-label").textContent = f"Web pages for {character}"
        self._say_test("", "")
        if not self._dialog.open:
            self._dialog.showModal()
        self._ask_for_models(at_once=True)

    @property
    def dialog(self) -> Any:
        return self._dialog

    def _relay_url(self) -> str:
        return str(js.URL.new("v1", document.baseURI).href) if self._host.get("relay") else ""

    def _fill_providers(self) -> None:
        select = part(self._dialog, "provider")
        for preset in providers.PRESETS:
            if preset.id != "relay" or self._relay_url():
                select.appendChild(js.Option.new(preset.label, preset.id))

    def _fill(self) -> None:
        for field in list(self._dialog.querySelectorAll("[data-name]")):
            value = getattr(self._settings, str(field.dataset.name))
            text = "" if value is None else f"{value}"
            if field.value != text:
                field.value = text
            field.removeAttribute("aria-invalid")
        for radio in list(self._dialog.querySelectorAll("[name=keep]")):
            radio.checked = (radio.value == "device") == self._settings.keep_key
        part(self._dialog, "web").checked = self._settings.web_access.get(self._character, False)
        self._show_provider()

    def _show_provider(self) -> None:
        chosen = providers.preset_of(
            self._settings.base_url, self._settings.model, self._relay_url()
        )
        part(self._dialog, "provider").value = chosen
        preset = next(item for item in providers.PRESETS if item.id == chosen)
        part(self._dialog, "provider-note").textContent = preset.note
        kept = (
            "It stays in this browser until you remove it. Anyone who uses this browser can use it."
        )
        part(self._dialog, "keep-note").textContent = (
            kept if self._settings.keep_key else "It is forgotten when this tab is closed."
        )
        part(self._dialog, "saved").textContent = f"Answers come from: {self._settings.label()}"

    # Changes

    def _apply(self, settings: Settings) -> None:
        if settings != self._settings:
            self._settings = settings
            self._show_provider()
            self._changed(settings)

    def _typed(self, element: Any, _event: Any) -> None:
        name = str(element.dataset.name)
        try:
            settings = with_field(self._settings, name, str(element.value))
        except ValueError as error:
            element.setAttribute("aria-invalid", "true")
            element.title = str(error)
            return
        element.removeAttribute("aria-invalid")
        element.title = ""
        self._apply(settings)
        if name in ("base_url", "api_key"):
            self._say_test("", "")
            self._ask_for_models()

    def _choose(self, preset_id: str) -> None:
        preset = next(item for item in providers.PRESETS if item.id == preset_id)
        url = self._relay_url() if preset_id == "relay" else preset.base_url
        model = providers.REHEARSAL if preset_id == providers.REHEARSAL else ""
        self._apply(replace(self._settings, base_url=url, model=model, worker_model=""))
        self._fill()
        part(self._dialog, "provider").value = preset_id
        part(self._dialog, "provider-note").textContent = preset.note
        self._ask_for_models(at_once=True)

    def _keep(self, on_device: bool) -> None:
        self._apply(replace(self._settings, keep_key=on_device))

    def _set_web(self, on: bool) -> None:
        access = self._settings.web_access | {self._character: on}
        self._apply(replace(self._settings, web_access=access))

    # The provider's models

    def _ask_for_models(self, *, at_once: bool = False) -> None:
        self._asked += 1
        self._tasks.start(self._load_models(self._asked, 0 if at_once else _TYPING_PAUSE))

    async def _load_models(self, number: int, pause: float) -> None:
        await asyncio.sleep(pause)
        settings = self._settings
        if number != self._asked:
            return
        if not settings.base_url.startswith(("http://", "https://")):
            self._show_models([], "")
            return
        self._show_models([], "Asking the provider for its models…")
        try:
            models = await providers.fetch_models(
                self._transport, settings.base_url, settings.api_key
            )
        except PersonaeError as error:
            models, note = [], f"No list of models: {self._explain(error)} You can type a name."
        else:
            note = f"{len(models)} models to choose from, or type a name."
        if number == self._asked:
            self._show_models(models, note)

    def _show_models(self, models: list[str], note: str) -> None:
        options = [js.Option.new(name, name) for name in models]
        part(self._dialog, "models").replaceChildren(*options)
        part(self._dialog, "models-note").textContent = note
        missing = bool(self._settings.base_url) and not self._settings.model
        if missing and len(models) == 1:
            self._apply(replace(self._settings, model=models[0]))
            self._fill()
        elif missing and models:
            part(self._dialog, "models-note").textContent = f"Choose a main model. {note}"

    # The test

    async def _test(self) -> None:
        settings = self._settings
        if settings.rehearsing and not settings.base_url:
            self._say_test("good", "The rehearsal model is always there.")
            return
        if settings.rehearsing:
            self._say_test("bad", "Choose a main model first.")
            return
        self._say_test("", "Asking…")
        try:
            said = await providers.test_connection(
                self._transport, settings.base_url, settings.api_key, settings.model
            )
        except PersonaeError as error:
            self._say_test("bad", self._explain(error))
        else:
            self._say_test("good", said)

    def _explain(self, error: PersonaeError) -> str:
        secure = js.location.protocol == "https:"
        return providers.explain_failure(
            error, self._settings.base_url, secure, bool(self._relay_url())
        )

    def _say_test(self, tone: str, text: str) -> None:
        result = part(self._dialog, "test")
        result.dataset.tone = tone
        result.textContent = text
