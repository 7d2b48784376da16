"""Composes the real adapters into an Environment: the one place that knows them all."""

from __future__ import annotations

from typing import Any, Literal

import js
import personae_host
from pyodide.ffi import JsException

from personae.bounded_json import load_json
from personae.browser.clock import BrowserClock
from personae.browser.locks import try_lock
from personae.browser.memory_storage import MemoryStorage
from personae.browser.package_fetch import PackageFetcher
from personae.browser.page_reader import read_page
from personae.browser.python_packages import install
from personae.browser.sandbox import FrameSandbox
from personae.browser.storage import IndexedDBStorage
from personae.browser.transport import FetchTransport
from personae.errors import StorageError
from personae.llm.rehearsal import RehearsalTransport, Routed
from personae.player.environment import Environment
from personae.ports import Language, Note, Notice, Notifier, Storage, StorageFails
from personae.storage.saver import probe

StorageKind = Literal["indexeddb", "memory"]

# What a host without config.json offers: a plain file server.
NOTHING_OFFERED = {"proxy": False, "reader": False, "relay": False, "characters": False}


async def host_config() -> dict[str, Any]:
    """What ``config.json`` beside the page says the host offers."""
    try:
        response = await js.fetch(f"{personae_host.root}config.json")
        return NOTHING_OFFERED | (load_json(await response.text()) if response.ok else {})
    except (JsException, ValueError):
        # An offline page or a host that answers with something else offers nothing either.
        return dict(NOTHING_OFFERED)


class Silent:
    """ports.Notifier for embedders: they hear everything as events."""

    def notify(self, notice: Notice) -> None:
        pass


async def browser_environment(
    host: dict[str, Any], *, notifier: Notifier, storage: StorageKind = "indexeddb"
) -> Environment:
    """The environment of a page; ``host`` is ``host_config()``'s."""
    clock = BrowserClock()
    records, fault = await open_storage(storage, notifier)
    environment = Environment(
        storage=records,
        transport=Routed(RehearsalTransport(clock), FetchTransport()),
        sandbox=FrameSandbox(personae_host.assets, lambda *at: tell_of_runtime(notifier, *at)),
        clock=clock,
        notifier=notifier,
        fetch_package=PackageFetcher(proxy=bool(host["proxy"])),
        lock=try_lock,
        install=install,
        web_reader=read_page if host["reader"] else None,
    )
    if fault is not None:
        environment.saver.suspend(fault)
    return environment


def tell_of_runtime(notifier: Notifier, language: Language, done: int, total: int) -> None:
    """Says once that the one runtime which takes seconds to load is being loaded."""
    if language == "python" and done == 0:
        notifier.notify(Note("Loading Python for this character's agents…"))


async def open_storage(
    kind: StorageKind, notifier: Notifier
) -> tuple[Storage, StorageError | None]:
    """IndexedDB, or memory where asked for or where the browser refuses storage altogether.

    With the fault that IndexedDB has now and may get over, if any.
    """
    if kind == "memory":
        return MemoryStorage(), None
    storage = IndexedDBStorage(
        told=lambda event: notifier.notify(
            StorageFails("A newer version of the player runs in another tab: reload this one.")
        )
    )
    try:
        await probe(storage)
    except StorageError as error:
        if error.code != "storage_refused":
            return storage, error
        notifier.notify(StorageFails(error.message))
        return MemoryStorage(), None
    return storage, None


async def embedded_environment(storage: StorageKind) -> Environment:
    """For an embedding page: the host's proxy and reader serve its own pages only."""
    same_origin = js.URL.new(personae_host.root).origin == js.location.origin
    host = await host_config() if same_origin else dict(NOTHING_OFFERED)
    return await browser_environment(host, notifier=Silent(), storage=storage)
