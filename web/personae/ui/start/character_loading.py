"""From a link, a file, a folder or the library to a character on stage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import js

from personae.browser.convert import bytes_from_js
from personae.errors import PackageError, PersonaeError, StorageError
from personae.package.identity import FOLDER
from personae.package.model import Package
from personae.package.sources import Fetch, contents_of
from personae.storage.library import Library
from personae.ui import formats
from personae.ui.chat import Chat
from personae.ui.dom.ask import Asker
from personae.ui.dom.elements import by_id, clone, fill, missing, part
from personae.ui.dom.listeners import Listeners
from personae.ui.dom.monogram import paint_monogram
from personae.ui.dom.templates import load_templates
from personae.ui.notices.advice import problem_advice, warning_advice
from personae.ui.page import Page
from personae.ui.settings.app_settings import Settings
from personae.ui.settings.web_grants import WebGrants
from personae.ui.start import address
from personae.ui.start.start_screen import StartScreen

TOPIC = "package"
"""Of what is said about a package while somebody is on stage."""
_PHASES = {
    "downloading": "Downloading",
    "reading": "Unpacking",
    "decoding": "Reading the files",
    "agents": "Reading the agents",
    "hashing": "Checking",
}


class CharacterLoading:
    """One character at a time; a newer one cancels the one before."""

    def __init__(
        self,
        page: Page,
        chat: Chat,
        library: Library,
        start: StartScreen,
        fetch: Fetch,
        settings: Callable[[], Settings],
        report: Callable[[BaseException], None],
        grants: WebGrants,
        asker: Asker,
    ) -> None:
        """``report`` shows an error; ``settings``: those a character begins with."""
        self._asker = asker
        self._page, self._chat, self._library, self._start = page, chat, library, start
        self._fetch, self._settings, self._report = fetch, settings, report
        self._grants = grants
        self._listeners = Listeners()
        self._link = ""
        """The shared link that the character on stage came from, if any."""
        self._task: asyncio.Task[Any] | None = None
        self._warned: set[str] = set()
        """The digests of packages whose warnings were shown."""
        self._stored_copy = False
        """Whether a link could not be reached and the copy in the library was opened."""
        on = page.dispatcher.on
        on("action", "show-start", lambda *_: self.go_home())
        on("action", "cancel-loading", lambda *_: self._cancel())
        on("action", "open-character", self._open_card)
        on("submit", "load-url", self._submit_url)
        on("change", "load-file", self._choose_file)

    @property
    def on_stage(self) -> str:
        """The id of the character on stage; empty: nobody is."""
        return self._chat.character_id

    async def open_first(self) -> None:
        """What the address asks for, else the start screen."""
        self._listeners.on(js.window, "popstate", lambda _: self._page.tasks.start(self._go()))
        await self._go()

    async def _go(self) -> None:
        link, stored = address.wanted()
        present = self._chat.character_id
        if present and (link == self._link if link else stored == present):
            self._page.shell.set_screen("chat")
        elif link:
            await self.open_url(link)
        elif stored and (name := await self._name_of(stored)):
            await self.open_stored(stored, name)
        else:
            await self.show_start()

    async def go_home(self) -> None:
        """The start screen, as a step that the back button undoes."""
        address.push_home()
        await self.show_start()

    async def show_start(self) -> None:
        page = self._page
        page.shell.close_sidebar()
        if not self._chat.on_stage:
            page.shell.set_title("Personae")
            page.sidebar.clear()
            page.composer.set_placeholder("Choose a character first")
        await self._start.show(self._stored, lambda: page.shell.set_screen("start"))

    async def _stored(self) -> list[dict[str, Any]]:
        """The library's list; empty, with a banner, while storage cannot be read."""
        try:
            listed = await self._library.list()
        except StorageError as error:
            self._report(error)
            return []
        if self._library.damaged:
            self._page.toasts.show(
                "A stored character is damaged and not shown. Load it again from its link or file."
            )
        return listed

    async def open_url(self, url: str) -> bool:
        """Fetches and opens a package; falls back to the stored copy when it cannot be had.

        Whether what is at the link is on stage; so with the others below.
        """
        self._stored_copy = False
        return await self._run(self._from_url(url), source_name(url), url) and not self._stored_copy

    async def open_file(self, file: Any) -> bool:
        return await self._run(self._from_file(file), str(file.name))

    async def open_files(
        self, files: Awaitable[dict[str, bytes]], folder: str, known_as: str | None = None
    ) -> bool:
        """Opens a project folder; ``known_as``: the character that it held before, if known."""
        return await self._run(self._from_files(files, folder, known_as), folder)

    async def remove(self, character_id: str) -> None:
        """Takes a character out of the library, and off the stage if it is there."""
        if character_id == self._chat.character_id:
            await self._chat.close()
            self._page.sidebar.clear()
            self._page.shell.enable_chat_actions(False)
        await self._library.remove(character_id)
        self._grants.forget(character_id)
        await self.go_home()

    async def open_stored(self, character_id: str, name: str) -> None:
        await self._run(self._from_library(character_id), name)

    # The ways in

    async def _from_url(self, url: str) -> str:
        whole = address.absolute(url)
        self._progress("downloading", 0, 0)
        try:
            contents = await contents_of(whole, self._fetch, self._progress)
        except PackageError:
            stored = [item for item in await self._stored() if item["source"] == whole]
            if not stored:
                raise
            self._stored_copy = True
            self._page.toasts.show("The link could not be reached. This is the copy stored here.")
            return str(stored[0]["id"])
        return await self._library.save(contents, whole, self._progress)

    async def _from_file(self, file: Any) -> str:
        self._progress("reading", 0, 0)
        data = bytes_from_js(await file.arrayBuffer())
        return await self._library.save(data, None, self._progress, is_next=self._is_next)

    async def _from_files(
        self, files: Awaitable[dict[str, bytes]], folder: str, known_as: str | None
    ) -> str:
        self._progress("reading", 0, 0)
        return await self._library.save(
            await files,
            f"{FOLDER}{folder}",
            self._progress,
            known_as=known_as,
            is_next=self._is_next,
        )

    async def _is_next(self, before: Mapping[str, Any]) -> bool:
        """Asks whether what is being opened takes the place of a stored character."""
        name = before["name"]
        return await self._asker.confirm(
            f"Is this the next version of {name}?",
            f"Then it takes the place of the {name} that is stored here and goes on with its "
            "conversations. Cancel keeps the two apart.",
            "It is",
        )

    async def _from_library(self, character_id: str) -> str:
        return character_id

    # From the package to the stage

    async def _run(self, find: Awaitable[str], name: str, link: str = "") -> bool:
        """Whether the character came on stage; who was in a conversation is there else."""
        self._cancel()
        talking = self._chat.on_stage and self._page.shell.screen == "chat"
        await load_templates("start")
        self._show_loading(name)
        task = self._task = asyncio.ensure_future(self._bring(find, link))
        try:
            await task
        except asyncio.CancelledError:
            if self._task is task:
                await self._back()
        except PersonaeError as error:
            await self._fail(error, talking=talking)
        except Exception:  # a folder that is gone, a file that may not be read
            await self._back()
            raise
        else:
            return True
        finally:
            if self._task is task:
                self._task = None
        return False

    async def _bring(self, find: Awaitable[str], link: str) -> None:
        character_id = await find
        package = await self._library.open(character_id, self._progress)
        await self._chat.open(package, character_id, self._settings())
        if self._library.is_unstored(character_id):
            self._page.toasts.show(
                f"{package.name} could not be kept in this browser's storage: it is here until "
                "this tab is closed, then it has to be loaded again.",
                seconds=10,
            )
        self._link = link
        address.show_character(character_id, link)
        self._page.banners.clear(TOPIC)
        self._page.banners.clear("error")
        self._show_warnings(package)
        self._page.tasks.start(self._grants.review())

    def _show_warnings(self, package: Package) -> None:
        """What is odd about the package, once for each version of it."""
        warnings = self._chat.player.warnings
        if warnings and package.digest not in self._warned:
            self._warned.add(package.digest)
            advice = warning_advice(package.name, warnings)
            self._page.banners.show(advice, topic=TOPIC, quiet=True)

    async def _fail(self, error: PersonaeError, *, talking: bool) -> None:
        problem = (
            error if isinstance(error, PackageError) else PackageError(error.code, error.message)
        )
        if talking and self._chat.on_stage:
            self._page.shell.set_screen("chat")
            self._page.banners.show(problem_advice(problem), topic=TOPIC)
            return
        await self.show_start()
        self._start.show_problems(problem)

    async def _back(self) -> None:
        if self._chat.on_stage:
            self._page.shell.set_screen("chat")
        else:
            await self.show_start()

    def _cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()

    def _show_loading(self, name: str) -> None:
        box = by_id("loading")
        if not box.childElementCount:
            box.appendChild(clone("loading"))
        fill(box, name=name, label="")
        paint_monogram(part(box, "monogram"), name)
        part(box, "bar").removeAttribute("value")
        if by_id("start").childElementCount:
            self._start.show_problems(None)
        self._page.shell.set_screen("loading")

    def _progress(self, phase: str, done: int, total: int) -> None:
        def draw() -> None:
            box = by_id("loading")
            bytes_known = phase == "downloading" and done
            detail = f" · {formats.progress(done, total)}" if bytes_known else ""
            fill(box, label=f"{_PHASES.get(phase, phase)}{detail}")
            if total:
                part(box, "bar").value = done / total
            else:
                part(box, "bar").removeAttribute("value")

        self._page.frames.schedule("loading", draw)

    async def _name_of(self, character_id: str) -> str:
        """The name of a stored character; empty when it is not there."""
        stored = await self._stored()
        return next((str(item["name"]) for item in stored if item["id"] == character_id), "")

    # Events

    def _open_card(self, element: Any, _event: Any) -> Any:
        card = element.closest("li")
        name = str(part(card, "name").textContent)
        if card.hasAttribute("data-url"):
            return self._run(self._from_url(str(card.dataset.url)), name)
        if str(card.dataset.id) == self._chat.character_id:
            address.show_character(self._chat.character_id, self._link)
            return self._back()
        return self.open_stored(str(card.dataset.id), name)

    def _submit_url(self, form: Any, _event: Any) -> Any:
        return self.open_url(str(form.elements.namedItem("url").value).strip())

    def _choose_file(self, element: Any, _event: Any) -> Any:
        file = element.files.item(0)
        if missing(file):
            return None
        return self._open_and_clear(element, file)

    async def _open_and_clear(self, element: Any, file: Any) -> None:
        await self.open_file(file)
        element.value = ""  # the same file can be chosen again after a change


def source_name(url: str) -> str:
    """A name for what a link leads to, until the package says its own."""
    path = url.split("?")[0].split("#")[0].rstrip("/")
    return formats.one_line(path.rsplit("/", 1)[-1].removesuffix(".zip") or url, 40)
