"""Everything the player needs from where it runs, in one value.

The browser's is made by ``personae.browser.environment``; tests make their own from fakes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from personae.package.sources import Fetch
from personae.ports import Clock, ModelTransport, Notifier, Sandbox, Storage
from personae.storage.leases import Lock
from personae.storage.provider_facts import ProviderFacts
from personae.storage.saver import Saver
from personae.turn.studio.web_fetch import WebReader


@dataclass(frozen=True, slots=True)
class Environment:
    storage: Storage
    transport: ModelTransport
    sandbox: Sandbox
    clock: Clock
    notifier: Notifier
    fetch_package: Fetch
    lock: Lock
    install: Callable[[str], Awaitable[None]] | None = None
    """Makes a Python package importable that only some characters need (``jsonschema``,
    ``ruamel``); None: they are there."""
    web_reader: WebReader | None = None
    """None: the host offers none."""
    saver: Saver = field(init=False)
    """Writes to the storage for all players of the page."""
    provider_facts: ProviderFacts = field(init=False)
    """What the page's players know about providers."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "saver", Saver(self.storage, self.clock, self.notifier))
        object.__setattr__(self, "provider_facts", ProviderFacts(self.saver))
