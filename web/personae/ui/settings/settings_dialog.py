"""The settings dialog: every change counts at once, a base URL when its field is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import js

from personae.credentials import OWN_HOST, origin_of
from personae.llm.provider.client import ChatClient
from personae.package.declarations import Declared
from personae.player.environment import Environment
from personae.ui.dom.elements import clone, document, missing, part, show
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.templates import load_templates
from personae.ui.page import Page
from personae.ui.settings import providers
from personae.ui.settings.app_settings import Settings, with_field, with_web, without_access
from personae.ui.settings.provider_form import ProviderForm

Changed = Callable[[Settings], Any]


class SettingsDialog:
    def __init__(
        self, page: Page, environment: Environment, relay_url: str, changed: Changed
    ) -> None:
        self._page, self._relay_url = page, relay_url
        self._dialog: Any = None
        self._character = ""
        self._asking: Declared | None = None
        self._listeners = Listeners()
        self._form = ProviderForm(
            ChatClient(environment.transport, environment.clock, environment.provider_facts),
            changed,
            self._draw,
            relay_url=relay_url,
            page_is_secure=js.location.protocol == "https:",
        )
        dispatcher = page.dispatcher
        dispatcher.on("input", "settings-field", self._typed)
        dispatcher.on("change", "settings-left", self._left)
        dispatcher.on(
            "change", "settings-provider", lambda element, _: self._choose(str(element.value))
        )
        dispatcher.on(
            "change", "settings-keep", lambda element, _: self._keep(element.value == "device")
        )
        dispatcher.on(
            "change", "settings-web", lambda element, _: self._set_web(bool(element.checked))
        )
        dispatcher.on("action", "settings-models", lambda *_: self._form.list_models())
        dispatcher.on("action", "settings-test", lambda *_: self._test())
        dispatcher.on("submit", "close-settings", lambda *_: self._finish())

    async def open(
        self, settings: Settings, character_id: str, character: str, asking: Declared | None
    ) -> None:
        """Shows ``settings``; ``asking``: what the agents of a character declare that asks for web
        pages, None when it does not."""
        await load_templates("settings")
        self._character, self._asking = character_id, asking
        if self._dialog is None:
            self._dialog = clone("settings")
            document.body.appendChild(self._dialog)
            self._listeners.on(self._dialog, "close", lambda _: self._closed())
            self._fill_providers()
        self._form.show(settings)
        self._mark("")
        self._fill_numbers()
        self._draw()
        show(part(self._dialog, "web-row"), asking is not None)
        part(self._dialog, "web-label").textContent = f"Web pages for {character}"
        allowed = asking is not None and settings.allows_web(character_id, asking)
        part(self._dialog, "web").checked = allowed
        self._say_test("", "")
        if not self._dialog.open:
            self._dialog.showModal()
        self._ask_this_site()

    @property
    def dialog(self) -> Any:
        return self._dialog

    def _fill_providers(self) -> None:
        select = part(self._dialog, "provider")
        for preset in providers.PRESETS:
            if preset.id != providers.RELAY or self._relay_url:
                select.appendChild(js.Option.new(preset.label, preset.id))

    # What is shown

    def _fill_numbers(self) -> None:
        for field in list(self._dialog.querySelectorAll("[data-number]")):
            value = getattr(self._form.settings, str(field.dataset.name))
            field.value = "" if value is None else f"{value}"
            _complain(field, "")

    def _draw(self) -> None:
        """Shows the provider, who answers, and what the form says."""
        form, settings = self._form, self._form.settings
        part(self._dialog, "provider").value = form.chosen
        part(self._dialog, "provider-note").textContent = providers.preset(form.chosen).note
        for name, value in (
            ("base_url", form.draft),
            ("api_key", form.key),
            ("model", settings.model),
            ("worker_model", settings.worker_model),
        ):
            field = self._dialog.querySelector(f"[data-name={name}]")
            if field.value != value:
                field.value = value
        self._draw_key()
        options = [js.Option.new(name, name) for name in form.models]
        part(self._dialog, "models").replaceChildren(*options)
        part(self._dialog, "models-note").textContent = form.note
        part(self._dialog, "saved").textContent = f"Answers come from: {settings.label()}"

    def _draw_key(self) -> None:
        form = self._form
        self._dialog.querySelector("[data-name=api_key]").disabled = not form.takes_key
        for radio in list(self._dialog.querySelectorAll("[name=keep]")):
            radio.checked = (radio.value == "device") == form.settings.keeps_key
            radio.disabled = not form.takes_key
        kept = (
            "It stays in this browser until you remove it. Anyone who uses this browser can use it."
            if form.settings.keeps_key
            else "It is forgotten when this tab is closed."
        )
        origin = origin_of(form.draft)
        whose = "this site" if origin == OWN_HOST else origin.removeprefix("https://")
        part(self._dialog, "keep-note").textContent = (
            f"For {whose} only. {kept}"
            if form.takes_key
            else "A key belongs to a base URL: enter that first."
        )

    def _mark(self, complaint: str) -> None:
        """Says what is wrong with the base URL, or nothing."""
        field = self._dialog.querySelector("[data-name=base_url]")
        if complaint:
            field.setAttribute("aria-invalid", "true")
        else:
            field.removeAttribute("aria-invalid")
        part(self._dialog, "base-url-note").textContent = complaint

    # Changes

    def _typed(self, element: Any, _event: Any) -> None:
        name, text = str(element.dataset.name), str(element.value)
        if name == "base_url":
            self._form.type_base_url(text)
            self._mark("")
        elif name == "api_key":
            self._form.type_key(text)
        else:
            self._set(element, name, text)
            return
        self._say_test("", "")
        self._draw()

    def _set(self, element: Any, name: str, text: str) -> None:
        try:
            if element.validity.badInput:  # the browser hands out no text then
                raise ValueError("This is not a number.")
            settings = with_field(self._form.settings, name, text)
        except ValueError as error:
            now = getattr(self._form.settings, name)
            kept = "The default stays" if now is None else f"{now:,} stays"
            _complain(element, f"{error} {kept} until then.")
            return
        _complain(element, "")
        self._form.take(settings)
        self._draw()

    async def _finish(self) -> None:
        """Closes the dialog when everything in it counts; else shows what does not."""
        wrong = self._not_taken()
        if wrong:
            wrong[0].focus()
            return
        if await self._form.finish():
            self._dialog.close()
            return
        self._mark(self._form.complaint)
        self._draw()
        name = "base_url" if self._form.complaint else "model"
        self._dialog.querySelector(f"[data-name={name}]").focus()

    def _closed(self) -> None:
        """However the dialog was closed, what does not count is said."""
        self._form.leave_base_url()
        for field in self._not_taken():
            label = str(field.labels[0].textContent)
            self._page.toasts.show(f"{label} was not changed. {field.title}", seconds=8)
        if self._form.complaint:
            self._page.toasts.show(f"The base URL was not taken. {self._form.complaint}", seconds=8)

    def _not_taken(self) -> list[Any]:
        """The fields with a number that makes no sense."""
        return list(self._dialog.querySelectorAll("[data-number][aria-invalid]"))

    def _left(self, element: Any, _event: Any) -> Any:
        """The field of the base URL or of the key was left with another text than it had."""
        moved = self._form.leave_base_url()
        self._mark(self._form.complaint)
        self._draw()
        keyed = element.dataset.name == "api_key" and self._form.takes_key
        return self._form.list_models() if moved or keyed else None

    def _choose(self, preset_id: str) -> None:
        self._form.choose(preset_id)
        self._mark(self._form.complaint)
        self._say_test("", "")
        self._draw()
        self._ask_this_site()

    def _ask_this_site(self) -> None:
        """The page's own host is asked for its models without more ado."""
        if self._form.chosen == providers.RELAY:
            self._page.tasks.start(self._form.list_models())

    def _keep(self, on_device: bool) -> None:
        self._form.keep_key(on_device)
        self._draw()

    def _set_web(self, on: bool) -> None:
        settings = self._form.settings
        self._form.take(
            with_web(settings, self._character, self._asking)
            if on and self._asking is not None
            else without_access(settings, {self._character})
        )

    # The test

    async def _test(self) -> None:
        self._say_test("", "Asking…")
        tone, said = await self._form.test()
        self._mark(self._form.complaint)
        self._draw()
        self._say_test(tone, said)

    def _say_test(self, tone: str, text: str) -> None:
        result = part(self._dialog, "test")
        result.dataset.tone = tone
        result.textContent = text


def _complain(field: Any, text: str) -> None:
    """Says below a field what is wrong with what is in it, or nothing."""
    if text:
        field.setAttribute("aria-invalid", "true")
    else:
        field.removeAttribute("aria-invalid")
    field.title = text
    note = field.parentElement.querySelector("[data-complaint]")
    if not missing(note):
        note.textContent = text
        show(note, bool(text))
        if text:
            note.scrollIntoView(block="nearest")
